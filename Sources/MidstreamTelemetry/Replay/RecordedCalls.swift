internal import Foundation
package import MidstreamCore

extension HARArchive {
    package struct Call: Sendable {
        /// Its first request. Values that were withheld are the mark.
        package let request: HTTPRequest
        package let retries: Int
        /// Whether its body isn't there, or not as a whole.
        package let isCut: Bool
    }

    /// The calls in the order in which they began. An exchange that wasn't recorded by this library counts as one.
    package var calls: [Call] {
        entries.byCall.map { entries in
            Call(
                request: entries[0].request.request,
                retries: entries.dropFirst().count(where: { $0._midstream?.cause == "retry" }),
                isCut: entries[0].lacksRequestBody)
        }
    }
}

extension HAREntry.Request {
    fileprivate var request: HTTPRequest {
        var headers = HTTPHeaders()
        for field in self.headers where !field.name.hasPrefix(":") { headers.add(HTTPHeaders.Name(field.name), field.value) }
        var body = HTTPBody.empty
        if let data = postData {
            let bytes = data.encoding == "base64" ? Data(base64Encoded: data.text).map { Array($0) } : nil
            body = .bytes(bytes ?? Array(data.text.utf8))
        }
        return HTTPRequest(HTTPMethod(rawValue: method), url, headers: headers, body: body)
    }
}
