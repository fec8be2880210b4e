import Foundation
import MidstreamCore
import MidstreamTransport
import TestSupport
import Testing

@testable import MidstreamURLSession

/// What Apple's branch reads of certificates, which needs none of Apple's.
@Suite(.leavesNothing) struct CertificateTests {
    /// Made by OpenSSL: P-256, Ed25519, and Ed25519 in version 1, which has no field for its version.
    private static let certificates = [
        """
        -----BEGIN CERTIFICATE-----
        MIIBbDCCAROgAwIBAgIUNrNoeqL+JWr19Prqz4Zd2ABaqmEwCgYIKoZIzj0EAwIw
        DDEKMAgGA1UEAwwBYTAeFw0yNjExMjExNzU3MjVaFw0zNjExMTgxNzU3MjVaMAwx
        CjAIBgNVBAMMAWEwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAR+Eb20tQ5meRn5
        r7ZjvcXUJ0GvZ5GEzAGi+rGQ8GURHus8nYn6qyXHK8hgf5Ho2ammE15GWUHHazBN
        ZEyz/Sn/o1MwUTAdBgNVHQ4EFgQUFszYyV/SohhElEXg1yL3lrmk+A0wHwYDVR0j
        BBgwFoAUFszYyV/SohhElEXg1yL3lrmk+A0wDwYDVR0TAQH/BAUwAwEB/zAKBggq
        hkjOPQQDAgNHADBEAiBgou8XQjXm1tINUXD7yZR9A+Rg8NHdePG4XKFyahqDbgIg
        C34E1XjwhicD5I4mAA5dlD9rMb4hRdooL7nsCLcxueY=
        -----END CERTIFICATE-----
        """,
        """
        -----BEGIN CERTIFICATE-----
        MIIBLDCB36ADAgECAhQSPLGezOpaxOKpJd+6PwBSLHw/hzAFBgMrZXAwDDEKMAgG
        A1UEAwwBYjAeFw0yNjExMjExNzU3MjVaFw0zNjExMTgxNzU3MjVaMAwxCjAIBgNV
        BAMMAWIwKjAFBgMrZXADIQD519wlMBDq0snRx3Bqzz+x8ZZAWSo0vpRteVtWEKuP
        a6NTMFEwHQYDVR0OBBYEFCxtaCExgGJr0hJIM20I2/8sdHqDMB8GA1UdIwQYMBaA
        FCxtaCExgGJr0hJIM20I2/8sdHqDMA8GA1UdEwEB/wQFMAMBAf8wBQYDK2VwA0EA
        Plyh2ncw5JtIycDPcTwAoHaNsB4J5VEXIfv7eFCW0eWvIK0BHKncZaXqqUTJwcI4
        elVaksJJ6Qw0Cla9yacsAQ==
        -----END CERTIFICATE-----
        """,
        """
        -----BEGIN CERTIFICATE-----
        MIHSMIGFAhQ9ReWzVQb9pmvjNdT1/rw/UcC+fDAFBgMrZXAwDDEKMAgGA1UEAwwB
        YzAeFw0yNjExMjExNzU3MjVaFw0zNjExMTgxNzU3MjVaMAwxCjAIBgNVBAMMAWMw
        KjAFBgMrZXADIQD519wlMBDq0snRx3Bqzz+x8ZZAWSo0vpRteVtWEKuPazAFBgMr
        ZXADQQBuWBM7qpdCtlHGIq1XuI1CHxAvj/XHcBiIvN+LvkZaAaUzrFul8w2NaXtJ
        yQ8YyAm+cO2H2EDU6XzsTYkN2lAI
        -----END CERTIFICATE-----
        """,
    ]
    /// What OpenSSL gives as their public keys.
    private static let keys = [
        "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEfhG9tLUOZnkZ+a+2Y73F1CdBr2eRhMwBovqxkPBlER7r"
            + "PJ2J+qslxyvIYH+R6NmpphNeRllBx2swTWRMs/0p/w==",
        "MCowBQYDK2VwAyEA+dfcJTAQ6tLJ0cdwas8/sfGWQFkqNL6UbXlbVhCrj2s=",
        "MCowBQYDK2VwAyEA+dfcJTAQ6tLJ0cdwas8/sfGWQFkqNL6UbXlbVhCrj2s=",
    ]

    @Test(arguments: 0..<3) func aPublicKeyIsFound(number: Int) throws {
        let certificate = try #require(CertificateText.certificates(in: Self.certificates[number])?.first)
        let key = try #require(PublicKeyInfo.bytes(ofCertificate: [UInt8](certificate)))
        #expect(Data(key).base64EncodedString() == Self.keys[number])
    }

    @Test func whatIsNoCertificateHasNone() throws {
        let whole = [UInt8](try #require(CertificateText.certificates(in: Self.certificates[0])?.first))
        for count in 0..<whole.count { #expect(PublicKeyInfo.bytes(ofCertificate: Array(whole.prefix(count))) == nil) }
        for bytes: [UInt8] in [[0x30, 0x80, 0, 0], [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF], [0x31, 0], [0x30, 2, 0x30, 0]] {
            #expect(PublicKeyInfo.bytes(ofCertificate: bytes) == nil)
        }
    }

    @Test func aTextMayHaveSeveralCertificates() throws {
        let text = "of no account\n" + Self.certificates.joined(separator: "\r\nmore\r\n")
        #expect(CertificateText.certificates(in: text)?.count == 3)
        #expect(CertificateText.certificates(in: "") == [])
        #expect(CertificateText.certificates(in: "-----BEGIN CERTIFICATE-----\nMIIB") == nil)
    }

    #if canImport(FoundationNetworking)
        @Test func onLinuxTLSCantBeConfigured() async throws {
            var pinned = TLSConfiguration()
            pinned.pinnedPublicKeys = ["sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]
            var trusting = TLSConfiguration()
            trusting.verifiesCertificates = false
            var newer = TLSConfiguration()
            newer.minimumVersion = .tls1_3
            for tls in [pinned, trusting, newer] {
                let error = await httpError { try await urlSessionTransport(tls: tls).send(HTTPRequest("https://localhost:1/")) }
                #expect(error?.code == .unsupported && error?.phase == .notSent)
            }
            let server = try RawServer.echoing()
            #expect(try await urlSessionTransport(tls: TLSConfiguration()).send(HTTPRequest(server.url)).status == 200)
        }
    #endif
}
