internal import Interception
internal import MidstreamCore

/// Where a download gets its bytes from: the pipeline further in, by requests for the whole or for a range.
struct DownloadSource: Sendable {
    let request: HTTPRequest
    let next: Next<HTTPRequest, HTTPResponse>
    let options: DownloadOptions
    /// The digests of the whole that taken answers have announced.
    private let told = Locked<[ExpectedDigest]>([])

    var pace: ResumptionPace { ResumptionPace(of: next) }

    /// What is downloaded, by its URL without secrets: also one that is presigned anew is the same.
    var resource: String { URLText.withoutPresigning(request.redactedURL) }

    /// Whether the rest of a body can be asked for.
    var isResumable: Bool { options.isResumable && isWhole && request.method == .get }

    /// Whether it requests a whole representation, by its method and fields.
    var isWhole: Bool { !request.headers.contains(.range) }

    /// Whether the request leaves it to this which encodings it takes.
    var choosesEncoding: Bool { !request.headers.contains(.acceptEncoding) }

    /// Whether an answer is encoded although no encoding was asked for.
    func isEncoded(_ response: HTTPResponse) -> Bool {
        guard isResumable, choosesEncoding else { return false }
        // Servers label an archive by its name: it is stored so.
        let type = response.headers[.contentType]?.prefix { $0 != ";" && $0 != " " }.lowercased()
        guard !["application/gzip", "application/x-gzip", "application/x-tar", "application/x-compressed-tar"].contains(type)
        else {
            return false
        }
        return response.headers.members(of: .contentEncoding).contains { !$0.equalsIgnoringASCIICase("identity") }
    }

    /// Asks for the whole, or for a range if the representation is still the same.
    ///
    /// - Parameters:
    ///   - isPlain: Whether it asks for no encoding, so that the offsets of what comes are those of the representation.
    func ask(
        _ range: Range<Int64>?, of total: Int64?, _ validator: StrongValidator?, isPlain: Bool
    ) async throws -> HTTPResponse {
        var request = request
        if isPlain, choosesEncoding { request.headers[.acceptEncoding] = "identity" }
        guard let range, let validator else { return try await next(request) }
        let isOpen = range.upperBound == .max || range.upperBound == total
        request.headers[.range] = "bytes=\(range.lowerBound)-\(isOpen ? "" : "\(range.upperBound - 1)")"
        request.headers[.ifRange] = validator.fieldValue
        do {
            return try await next(request)
        } catch let error as HTTPError {
            // It is an answer to this question, whatever validators make of it.
            guard let response = error.response, response.status == .rangeNotSatisfiable else { throw error }
            return response
        }
    }

    /// The digests that the file has to have by the answers that were taken.
    var digests: [ExpectedDigest] { told.withLock { $0 } }

    /// Notes that an answer is taken.
    ///
    /// - Parameter isFirst: Whether nothing is kept of those before it, which may have been of another representation.
    func take(_ response: HTTPResponse, isFirst: Bool) {
        // A file that is a range by the request's own wish isn't the whole.
        let digests = isWhole ? response.representationDigests : []
        told.withLock { told in
            if isFirst { told = [] }
            for digest in digests where !told.contains(digest) { told.append(digest) }
        }
    }

    /// The error for an answer that is nothing to be kept, with its body, which is waited for as long as for an attempt's.
    func refusal(of response: HTTPResponse) async throws -> HTTPError {
        let error = HTTPError(
            .unacceptableStatus, "The server answered \(response.status), which is nothing to be kept.",
            request: response.request, response: response)
        var position = next.position
        if let call = next.call { position.timeout = call.due(in: request.timeout ?? call.owner.limits.timeout) }
        return try await position.withBody(of: response, in: error)
    }

    func record(_ event: @autoclosure () -> CallEvent) { next.position.record(event, about: request) }

    func note(_ text: @autoclosure () -> String) { next.position.note(text, about: request) }
}
