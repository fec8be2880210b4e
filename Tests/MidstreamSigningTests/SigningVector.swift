import Foundation
import MidstreamCore
import MidstreamSigning

/// A request that botocore has signed, as `generate-vectors.py` prints it.
struct SigningVector: Decodable, Sendable, CustomStringConvertible {
    let number: Int
    let method: String
    let url: String
    let headers: [[String]]
    let service: String
    let region: String
    let body: Data
    let time: Double
    let accessKeyID: String
    let secretAccessKey: String
    let sessionToken: String?
    let unsigned: Bool
    let expires: Int?
    let authorization: String?
    let contentHash: String?
    let signature: String?

    var description: String { "\(number): \(service) \(method) \(url)" }

    static let committed: [SigningVector] = {
        guard let file = Bundle.module.url(forResource: "vectors", withExtension: "json"),
            let vectors = try? JSONDecoder().decode([SigningVector].self, from: Data(contentsOf: file))
        else { return [] }
        return vectors
    }()

    var request: HTTPRequest {
        var fields = HTTPHeaders()
        for field in headers { fields.add(.init(field[0]), field[1]) }
        return HTTPRequest(.init(rawValue: method), url, headers: fields, body: .data(body))
    }

    var signer: AWSSignerV4 {
        AWSSignerV4(
            AWSCredentials(accessKeyID: accessKeyID, secretAccessKey: secretAccessKey, sessionToken: sessionToken),
            region: region, service: service, placement: expires.map { .query(expires: .seconds($0)) } ?? .headers,
            payload: unsigned ? .unsigned : .signed, now: { [time] in Date(timeIntervalSince1970: time) })
    }

    /// What is wrong with a request that was signed by the signer; nil when botocore agrees with it.
    func disagreement(with signed: HTTPRequest) -> String? {
        if let signature {
            let actual = signed.urlText.components(separatedBy: "X-Amz-Signature=").last
            return actual == signature ? nil : "\(self): \(signed.urlText)"
        }
        let actual = (signed.headers[.authorization], signed.headers["X-Amz-Content-SHA256"])
        return actual == (authorization, contentHash) ? nil : "\(self): \(actual), not \((authorization, contentHash))"
    }
}
