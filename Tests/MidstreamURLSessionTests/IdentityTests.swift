import Foundation
import MidstreamCore
import MidstreamTransport
import MidstreamURLSession
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Whose a session's requests are", .leavesNothing)
struct IdentityTests {
    private func identity(_ fields: [String: String], _ tls: TLSConfiguration = TLSConfiguration()) -> RequestIdentity {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = fields
        return urlSessionTransport(configuration: configuration, tls: tls).identity
    }

    @Test("is decided by the fields that it adds")
    func fields() {
        let ann = identity(["Authorization": "Bearer ann"])
        #expect(ann != .nobody)
        #expect(ann != identity(["Authorization": "Bearer bob"]))
        #expect(ann == identity(["authorization": "Bearer ann", "User-Agent": "a/1"]))
        #expect(identity(["A": "1", "B": "2"]) == identity(["B": "2", "A": "1"]))
    }

    @Test("isn't decided by those that many clients share")
    func shared() {
        #expect(identity(["User-Agent": "a/1", "Accept": "*/*", "accept-language": "de", "Accept-Encoding": "gzip"]) == .nobody)
        #expect(urlSessionTransport().identity == .nobody)
    }

    @Test("is decided by the client certificate, too")
    func certificate() {
        var tls = TLSConfiguration()
        tls.clientCertificate = .init(pkcs12: "/c.p12", password: nil)
        let certified = identity([:], tls)
        #expect(certified != .nobody)
        #expect(certified != identity(["Authorization": "Bearer ann"], tls))
        let inMemory = [[1], [2]].map { (bytes: [UInt8]) in
            tls.clientCertificate = .init(pkcs12: bytes, password: nil)
            return tls.identity
        }
        #expect(inMemory[0] != inMemory[1] && !inMemory.contains(.nobody))
    }
}
