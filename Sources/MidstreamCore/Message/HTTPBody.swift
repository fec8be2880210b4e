public import Foundation

/// What a message carries: nothing, bytes in memory, a file, or a stream of chunks.
///
/// A string literal, interpolated or not, is ``text(_:)``.
///
/// It is an `AsyncSequence` of byte chunks. Chunks are never empty. A body made by ``stream(length:_:)``, ``file(_:)`` or
/// `bytes(_:)` starts from the beginning each time it is iterated; one made by ``once(_:length:)``, and the body of a
/// response that is still arriving, can be iterated a single time. A cancelled reading throws `CancellationError`, also where the sequence
/// that it reads would just end.
public struct HTTPBody: Sendable {
    enum Storage: Sendable {
        case empty
        case bytes([UInt8])
        case file(path: String)
        case stream(FreshChunks)
        case once(OnceChunks)
        case incoming(IncomingChunks)
    }

    let storage: Storage
    /// The media type that the body has by the way it was made; used when the request has no `Content-Type` of its own.
    public let contentType: String?

    init(_ storage: Storage, contentType: String? = nil) {
        self.storage = storage
        self.contentType = contentType
    }

    /// No body.
    public static let empty = HTTPBody(.empty)

    /// Bytes in memory. Length known, replayable.
    public static func bytes(_ bytes: [UInt8]) -> HTTPBody { HTTPBody(bytes.isEmpty ? .empty : .bytes(bytes)) }

    /// Bytes in memory, of any sequence.
    @_disfavoredOverload
    public static func bytes(_ bytes: some Sequence<UInt8>) -> HTTPBody { .bytes(Array(bytes)) }

    /// UTF-8 text, as `text/plain; charset=utf-8`.
    public static func text(_ text: String) -> HTTPBody {
        HTTPBody(.bytes(Array(text.utf8)), contentType: "text/plain; charset=utf-8")
    }

    /// A file, read in chunks while it is sent; replayable. Its length is looked up when it is sent. A file that can't be read
    /// makes sending fail with ``HTTPError/Code/bodyUnreadable``, and so does a pipe, which can't be read again: send it by a stream
    /// that can be read a single time (``once(_:length:)``).
    public static func file(_ url: URL) -> HTTPBody { HTTPBody(.file(path: url.path)) }

    /// Chunks that `make` produces, anew for each send, so that the body is replayable.
    ///
    /// - Parameters:
    ///   - length: The number of bytes, when it is known; sent as `Content-Length`. Without it the body is sent chunked.
    ///     A sequence that yields another number makes sending fail with ``HTTPError/Code/bodyUnreadable``, and so does a negative one.
    ///   - make: Called at the start of each send, in a task of the transport, which may have none of the caller's task-local values. Empty
    ///     chunks are skipped; an error that the sequence throws ends the request.
    public static func stream<S: AsyncSequence & Sendable>(
        length: Int64? = nil, _ make: @escaping @Sendable () -> S
    ) -> HTTPBody where S.Element == [UInt8] {
        if let length, length < 0 { return .ofNegative(length) }
        let close: @Sendable () -> Void = { if S.self == HTTPBody.self { (make() as? HTTPBody)?.close() } }
        return HTTPBody(.stream(FreshChunks(length: length, closing: close) { ChunkIterator(make()) }))
    }

    /// Chunks that can be read a single time. Sending the request again fails with ``HTTPError/Code/bodyNotReplayable`` before
    /// anything is sent.
    public static func once<S: AsyncSequence & Sendable>(
        _ chunks: S, length: Int64? = nil
    ) -> HTTPBody where S.Element == [UInt8] {
        if let length, length < 0 { return .ofNegative(length) }
        return HTTPBody(.once(OnceChunks(of: chunks as? HTTPBody, length: length) { ChunkIterator(chunks) }))
    }

    /// A body with a negative length, such as Foundation's -1 for an unknown one; sending it fails.
    static func ofNegative(_ length: Int64) -> HTTPBody {
        .failing(HTTPError(.bodyUnreadable, "A body can't have \(length) bytes; nil stands for a length that isn't known."))
    }

    /// A body whose sending fails, before anything has left.
    static func failing(_ error: HTTPError, contentType: String? = nil) -> HTTPBody {
        HTTPBody(.stream(FreshChunks(error)), contentType: contentType)
    }

    /// Why it can't be sent, where that was known when it was made.
    var flaw: HTTPError? {
        if case .stream(let chunks) = storage { chunks.flaw } else { nil }
    }

    /// A body that a transport is receiving, one chunk after the other.
    ///
    /// - Parameters:
    ///   - length: The number of bytes that will come after decoding, when it is known. A negative one, such as Foundation's -1, counts as nil.
    ///   - next: The next chunk, or nil at the end. Reacts to the cancellation of the task that waits by throwing `CancellationError` and
    ///     giving up the transfer. Never called twice at the same time.
    ///   - trailers: The fields after the body (RFC 9110 §6.5), called at any time: nil until the end has been read. None by default.
    ///   - metrics: The transport's measurements, called in the same way: before the end nil, or what is known with the head. May be
    ///     called under the lock of a call's trace: must neither leave a note nor wait for who does. None by default.
    ///   - close: Gives up the rest: called once at most, from any thread, when the body is closed or released before its end.
    public static func incoming(
        length: Int64? = nil, next: @escaping @Sendable () async throws -> [UInt8]?,
        trailers: @escaping @Sendable () -> HTTPHeaders? = { nil },
        metrics: @escaping @Sendable () -> TransportMetrics? = { nil }, close: @escaping @Sendable () -> Void
    ) -> HTTPBody {
        .incoming(length: length, isTransformed: { false }, next: next, trailers: trailers, metrics: metrics, close: close)
    }

    /// - Parameter isTransformed: Whether other bytes have been made of those that came.
    package static func incoming(
        length: Int64?, isTransformed: @escaping @Sendable () -> Bool, next: @escaping @Sendable () async throws -> [UInt8]?,
        trailers: @escaping @Sendable () -> HTTPHeaders?, metrics: @escaping @Sendable () -> TransportMetrics?,
        close: @escaping @Sendable () -> Void
    ) -> HTTPBody {
        let body = ClosureBody(
            next: next, trailers: trailers, metrics: metrics, isTransformed: isTransformed, close: { _ in close() })
        return .incoming(body, length: length)
    }

    /// - Parameters:
    ///   - incoming: Gives the chunks as they arrive. Closed when the body is closed.
    ///   - length: The number of bytes that will come after decoding, when it is known.
    package static func incoming(_ incoming: any IncomingBody, length: Int64? = nil) -> HTTPBody {
        HTTPBody(.incoming(IncomingChunks(source: incoming, length: length)))
    }

    /// The number of bytes, when it is known without reading the body.
    public var length: Int64? {
        switch storage {
        case .empty: 0
        case .bytes(let bytes): Int64(bytes.count)
        case .file(let path): FileChunks.length(ofFileAt: path)
        case .stream(let chunks): chunks.length
        case .once(let chunks): chunks.length
        case .incoming(let chunks): chunks.length
        }
    }

    /// Whether there is no body, without a look at a file.
    var isNone: Bool {
        if case .empty = storage { true } else { false }
    }

    /// Whether the body can be sent a second time.
    public enum Replayability: String, Sendable, Hashable {
        /// As often as needed.
        case replayable
        /// A single time.
        case once
    }

    /// Whether the body can be sent a second time.
    public var replayability: Replayability {
        switch storage {
        case .empty, .bytes, .file, .stream: .replayable
        case .once, .incoming: .once
        }
    }

    /// The bytes, when they are in memory; nil for a file or a stream.
    public var bytes: [UInt8]? {
        switch storage {
        case .empty: []
        case .bytes(let bytes): bytes
        default: nil
        }
    }

    /// The path of a file; nil for any other body.
    package var filePath: String? {
        if case .file(let path) = storage { path } else { nil }
    }

    /// The largest body that ``collect(upTo:)`` takes into memory when no limit is given: 64 MiB.
    public static let defaultCollectLimit = 64 << 20

    /// Reads the whole body into memory.
    ///
    /// - Parameter limit: The number of bytes past which it gives up; 64 MiB by default.
    /// - Throws: ``HTTPError/Code/bodyTooLarge`` past the limit, ``HTTPError/Code/bodyNotReplayable`` when it was read before
    ///   or another task waits for a chunk of it, `CancellationError`, and what the source throws. In each case a body that is still
    ///   arriving is closed.
    public func collect(upTo limit: Int = defaultCollectLimit) async throws -> [UInt8] {
        if let bytes {
            guard bytes.count <= limit else { throw HTTPError.tooLarge(limit: limit) }
            return bytes
        }
        do {
            return try await collectChunks(upTo: limit)
        } catch {
            close()
            throw error
        }
    }

    private func collectChunks(upTo limit: Int) async throws -> [UInt8] {
        var collected: [UInt8] = []
        if let length {
            guard length <= limit else { throw HTTPError.tooLarge(limit: limit) }
            // A length may be a lie, so memory is reserved up to the default limit only.
            collected.reserveCapacity(Int(Swift.max(0, Swift.min(length, Int64(Self.defaultCollectLimit)))))
        }
        for try await chunk in self {
            guard chunk.count <= limit - collected.count else { throw HTTPError.tooLarge(limit: limit) }
            if collected.isEmpty, collected.capacity < chunk.count { collected = chunk } else { collected += chunk }
        }
        return collected
    }

    /// Reads all of it, as does whoever it is sent to.
    ///
    /// - Parameter keepsBytes: Whether they are returned; false by default.
    /// - Throws: ``HTTPError/Code/bodyUnreadable`` when it isn't as long as it says; what its source throws.
    @discardableResult
    package func readToEnd(keepsBytes: Bool = false) async throws -> [UInt8] {
        var (read, count): ([UInt8], Int64) = ([], 0)
        let length = length
        for try await chunk in self {
            if keepsBytes { read += chunk }
            count += Int64(chunk.count)
            if let length, count > length { break }
        }
        guard length == nil || count == length else {
            throw HTTPError(.bodyUnreadable, "The body isn't as long as announced, which is \(length ?? 0) bytes.")
        }
        return read
    }

    /// Gives up what is still arriving, so that its connection is released; through ``once(_:length:)`` and ``stream(length:_:)``, too, when
    /// what they wrap is such a body. What ``once(_:length:)`` was given and nobody has begun to read is let go of. Does nothing for any
    /// other body, nor a second time. Reading a closed body throws ``HTTPError/Code/connectionLost``.
    public func close() {
        switch storage {
        case .empty, .bytes, .file: break
        case .stream(let chunks): chunks.close()
        case .once(let chunks): chunks.close()
        case .incoming(let chunks): chunks.source.close()
        }
    }

    /// Gives up what is still arriving since a chunk of it hasn't come in time.
    package func close(late error: HTTPError) {
        if let incoming { incoming.close(late: error) } else { close() }
    }

    /// The source of an arriving body; nil for any other.
    package var incoming: (any IncomingBody)? {
        if case .incoming(let chunks) = storage { chunks.source } else { nil }
    }

    /// Whether a transformation has made other bytes of those that came, as far as they were read; of a body that isn't arriving, whether it may.
    /// A range of what a server sent doesn't go on with them.
    package var isTransformed: Bool {
        switch storage {
        case .empty, .bytes, .file: false
        case .stream(let chunks): chunks.isTransformed
        case .once(let chunks): chunks.isTransformed
        case .incoming(let chunks): chunks.source.isTransformed
        }
    }

    /// Whether it can be read only once and has been.
    package var isSpent: Bool {
        switch storage {
        case .once(let chunks): chunks.isClaimed
        case .incoming(let chunks): chunks.source.isSpent
        default: false
        }
    }
}

extension HTTPBody: ExpressibleByStringInterpolation {
    /// UTF-8 text, as ``text(_:)`` makes it.
    public init(stringLiteral value: String) { self = .text(value) }
}

extension HTTPBody: CustomStringConvertible, CustomReflectable {
    /// What kind of body it is and how long; never its content.
    public var description: String {
        let size = length.map { "\($0) bytes" } ?? "unknown length"
        switch storage {
        case .empty: return "no body"
        case .bytes: return size
        case .file: return "file, \(size)"
        case .stream: return "stream, \(size)"
        case .once: return "stream that can be read once, \(size)"
        case .incoming: return "arriving, \(size)"
        }
    }

    /// Shows no content.
    public var customMirror: Mirror { Mirror(self, children: ["body": description]) }
}

/// Identifies a body without keeping it or reading it.
struct BodyIdentity: Hashable {
    private let kind: UInt8
    private let mark: Int
    private let length: Int

    init(_ body: borrowing HTTPBody) {
        switch body.storage {
        case .empty: (kind, mark, length) = (0, 0, 0)
        case .bytes(let bytes):
            (kind, mark, length) = (1, bytes.withUnsafeBufferPointer { Int(bitPattern: $0.baseAddress) }, bytes.count)
        case .file(let path): (kind, mark, length) = (2, path.hashValue, 0)
        case .stream(let chunks): (kind, mark, length) = (3, ObjectIdentifier(chunks).hashValue, 0)
        case .once(let chunks): (kind, mark, length) = (4, ObjectIdentifier(chunks).hashValue, 0)
        case .incoming(let chunks): (kind, mark, length) = (5, ObjectIdentifier(chunks.source).hashValue, 0)
        }
    }
}
