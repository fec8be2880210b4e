import Foundation
import HTTPTypes
import Midstream
import OpenAPIRuntime

/// Sends the requests of clients that swift-openapi-generator makes. Bodies are streams both ways.
///
/// The pipeline is the client's: retries, credentials, cache. Every status is an answer, since the generated code knows which ones are
/// documented; those that may pass are retried first. The operation is the route.
struct OpenAPITransport: ClientTransport {
    let client: HTTPClient

    func send(
        _ request: HTTPTypes.HTTPRequest, body: OpenAPIRuntime.HTTPBody?, baseURL: URL, operationID: String
    ) async throws -> (HTTPTypes.HTTPResponse, OpenAPIRuntime.HTTPBody?) {
        var base = baseURL.absoluteString
        if base.hasSuffix("/") { base.removeLast() }
        let path = request.path ?? ""
        // Any other path would be read as a part of the base, and lead to another host.
        guard path.isEmpty || path.hasPrefix("/") else {
            throw ConversionError.untranslatable("a path that doesn't begin with a slash")
        }
        var sent = Midstream.HTTPRequest(
            HTTPMethod(rawValue: request.method.rawValue), "\(raw: base)\(raw: path)",
            headers: HTTPHeaders(request.headerFields), body: body.map(Midstream.HTTPBody.init) ?? .empty)
        sent.route = operationID
        sent.acceptableStatus = .all
        let response = try await client.stream(sent)
        let length = response.body.length.map(OpenAPIRuntime.HTTPBody.Length.known) ?? .unknown
        let arriving = OpenAPIRuntime.HTTPBody(response.body.map { $0[...] }, length: length, iterationBehavior: .single)
        return (HTTPTypes.HTTPResponse(response), arriving)
    }
}

extension Midstream.HTTPBody {
    /// A body that can be read twice if the other one can, so that retries and redirects may send it again.
    fileprivate init(_ body: OpenAPIRuntime.HTTPBody) {
        let length: Int64? = if case .known(let length) = body.length { length } else { nil }
        switch body.iterationBehavior {
        case .single: self = .once(body.map { Array($0) }, length: length)
        case .multiple: self = .stream(length: length) { body.map { Array($0) } }
        }
    }
}
