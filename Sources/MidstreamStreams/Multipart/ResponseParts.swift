internal import Interception
public import MidstreamCore

extension HTTPResponse {
    /// The parts of a `multipart/…` response, one after the other, while it arrives (RFC 2046 §5.1); those of `multipart/byteranges` as
    /// well (RFC 9110 §14.6).
    ///
    /// ```swift
    /// for try await part in response.parts() { print(part.headers, try await part.body.collect().count) }
    /// ```
    ///
    /// Read a part, or pass over it by asking for the next. Preamble and epilogue are ignored; parts that are multipart themselves aren't
    /// taken apart. There may be any number of parts, whose heads have at most 16 KiB each. They can be had only once: all iterators share
    /// one place.
    ///
    /// - Returns: Of each part the fields of its head, `Content-Range` in a part of `multipart/byteranges`; and its content, which can be
    ///   read until the next part is read. Closing it passes over what is left. Reading the next part throws
    ///   ``HTTPError/Code/decoding`` when the response isn't multipart; ``HTTPError/Code/protocolViolation`` when it can't be read, as
    ///   with a longer head; ``HTTPError/Code/connectionLost`` when it ends before its last boundary; what its body throws.
    public func parts() -> ElementSequence<(headers: HTTPHeaders, body: HTTPBody)> { ElementSequence(ResponseParts(self)) }
}

/// The parts of a response, of which all iterators share the place.
struct ResponseParts: ElementSource, ElementIterator {
    typealias Element = (headers: HTTPHeaders, body: HTTPBody)

    private let parts: PartSource

    init(_ response: HTTPResponse) { parts = PartSource(response) }

    func makeIterator() -> ResponseParts { self }

    /// The next part; nil at the end, and after an error. What is left of the one before is passed over.
    nonisolated(nonsending) func next() async throws -> Element? {
        guard let (number, headers) = try await parts.nextHead() else { return nil }
        return (headers, .incoming(next: { [parts] in try await parts.nextContent(ofPart: number) }, close: {}))
    }
}

/// What the parts of one response are read from. Nobody reads while another does.
private final class PartSource: Sendable {
    private enum State {
        /// A failure: why the response has no parts.
        case ready(Result<PartReader, any Error>)
        case reading
        case failed(any Error)
    }

    private let state: Locked<State>
    private let body: HTTPBody

    init(_ response: HTTPResponse) {
        body = response.body
        do {
            let boundary = try Self.boundary(of: response)
            state = Locked(.ready(.success(PartReader(response.body, boundary: boundary))))
        } catch {
            state = Locked(.ready(.failure(error)))
        }
    }

    deinit { body.close() }

    /// The number, from 1, and the head of the next part.
    func nextHead() async throws -> (Int, HTTPHeaders)? {
        guard var reader = try take(afterFailure: { _ in }) else { return nil }
        do {
            let headers = try await reader.nextHead()
            state.withLock { $0 = .ready(.success(reader)) }
            return headers.map { (reader.partCount, $0) }
        } catch {
            throw fail(error)
        }
    }

    /// The next piece of a part, if that is the one which is read.
    func nextContent(ofPart number: Int) async throws -> [UInt8]? {
        // What is missing mustn't look like an end.
        guard var reader = try take(afterFailure: { throw $0 }) else { return nil }
        guard reader.partCount == number else {
            state.withLock { $0 = .ready(.success(reader)) }
            throw HTTPError(.bodyNotReplayable, "The part was passed over for a later one.", phase: .answered)
        }
        do {
            let content = try await reader.nextContent()
            state.withLock { $0 = .ready(.success(reader)) }
            return content
        } catch {
            throw fail(error)
        }
    }

    private func take(afterFailure: (any Error) throws -> Void) throws -> PartReader? {
        let taken = state.withLock { state in
            defer { if case .ready = state { state = .reading } }
            return state
        }
        switch taken {
        case .ready(.success(let reader)): return reader
        case .ready(.failure(let error)): throw fail(error)
        case .reading: throw HTTPError(.bodyNotReplayable, "The parts are being read by another task.", phase: .answered)
        case .failed(let error):
            try afterFailure(error)
            return nil
        }
    }

    private func fail(_ error: any Error) -> any Error {
        state.withLock { $0 = .failed(error) }
        body.close()
        return error
    }

    private static func boundary(of response: HTTPResponse) throws(HTTPError) -> String {
        let type = response.headers[.contentType] ?? ""
        guard type.hasASCIIPrefix("multipart/") else {
            throw HTTPError(
                .decoding, "The response's type is \(type.isEmpty ? "not told" : type.debugDescription), which has no parts.",
                request: response.request, phase: .answered)
        }
        // Senders leave out the quotes around one that is no token.
        let boundary = FieldValueScanner.parameter("boundary", of: type, takesAnything: true)
        guard let boundary, boundary.isBoundary else {
            throw HTTPError(
                .protocolViolation, "The response is multipart and has no boundary, or none that can be one.",
                request: response.request, phase: .answered)
        }
        return boundary
    }
}
