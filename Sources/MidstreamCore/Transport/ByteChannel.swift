package import Interception

/// A connection on which both sides send bytes as they like. One that is released is closed.
///
/// May be used from any task. There is one reader and one writer at a time: bytes that two tasks write go out one after the other, each
/// array whole.
package protocol ByteChannel: Sendable {
    /// The next bytes, in pieces as they come, never empty; nil at a clean end, also when called again.
    ///
    /// - Throws: ``HTTPError`` with ``HTTPError/Code/connectionLost`` when the connection is lost or was closed here; `CancellationError`
    ///   when the task is cancelled, which closes the channel.
    nonisolated(nonsending) func read() async throws -> [UInt8]?

    /// Sends bytes; returns when all but 64 KiB of what was written have left, which they do at the pace of the other side.
    ///
    /// - Throws: As ``read()`` does, perhaps for bytes that were written before; what has been received until then can still be read, and then the
    ///   end. `CancellationError` closes the channel, since a part of the bytes may have left.
    nonisolated(nonsending) func write(_ bytes: [UInt8]) async throws

    /// Closes the connection at once; what hasn't left doesn't. Harmless when repeated. A waiting reader or writer fails with
    /// ``HTTPError/Code/connectionLost``.
    func close()

    /// Where bytes arrive; see ``IncomingBody/arrivals``.
    var arrivals: CallersExecutor? { get }
}

extension ByteChannel {
    package var arrivals: CallersExecutor? { nil }
}

/// Sends bytes over the connection of a response's body.
package protocol ByteWriter: Sendable {
    /// See ``ByteChannel/write(_:)``; what closes the connection is closing the body.
    nonisolated(nonsending) func write(_ bytes: [UInt8]) async throws
    /// Returns when all that was written has left, or nothing leaves any more, or the task is cancelled.
    nonisolated(nonsending) func finish() async
    /// How much of what was written hasn't left; zero where that isn't known.
    var unsent: Int { get }
}

extension ByteWriter {
    nonisolated(nonsending) package func finish() async {}
    package var unsent: Int { 0 }
}

private enum WriterKey: RequestContextKey { static var defaultValue: (any ByteWriter)? { nil } }

extension String {
    /// A `ws` or `wss` URL (RFC 6455 §3) as the http or https one that its upgrade is sent to; any other text as it is.
    package var withWebScheme: String {
        let scheme = prefix { $0 != ":" }.lowercased()
        guard scheme == "ws" || scheme == "wss", dropFirst(scheme.count).hasPrefix("://") else { return self }
        return (scheme == "ws" ? "http" : "https") + dropFirst(scheme.count)
    }
}

private enum MessageLimitKey: RequestContextKey { static var defaultValue: Int? { nil } }

extension HTTPRequest {
    /// The largest message of the socket that it asks for, for a transport that puts messages together itself; nil: not said.
    package var messageLimit: Int? {
        get { context[MessageLimitKey.self] }
        set { context[MessageLimitKey.self] = newValue }
    }

    /// Whether it asks for another protocol on its connection.
    package var isUpgrade: Bool { headers.contains("Upgrade") }

    /// Refuses an upgrade whose connection a transport couldn't hand over: one that is sent with a body that is still arriving.
    ///
    /// - Throws: ``HTTPError/Code/unsupported``; nothing has been sent.
    package func refuseUpgrade(_ options: ExchangeOptions, by transport: StaticString) throws {
        guard options.delivery == .streamed, isUpgrade else { return }
        throw HTTPError.unsupported(
            "\(transport) doesn't hand over a connection to another protocol; WireTransport does.", request: self)
    }
}

extension HTTPResponse {
    /// What writes to the connection of a 101 response, whose body is what is received.
    package var writer: (any ByteWriter)? {
        get { context[WriterKey.self] }
        set { context[WriterKey.self] = newValue }
    }

    /// The connection of a 101 response to an upgrade, as long as that has it; nil for any other. It is read through the response's body, so
    /// that whoever observes that sees what comes, and closing that closes it.
    package var channel: BodyChannel? {
        guard status.code == 101, let writer, let body = body.incoming else { return nil }
        return BodyChannel(body, writer)
    }
}

/// A connection that is read as a body.
package final class BodyChannel: ByteChannel {
    /// What is read; each piece is given once, to whoever asks for it.
    package let body: any IncomingBody
    let writer: any ByteWriter

    package init(_ body: any IncomingBody, _ writer: any ByteWriter) {
        self.body = body
        self.writer = writer
    }

    deinit { body.close() }

    nonisolated(nonsending) package func read() async throws -> [UInt8]? {
        while let bytes = try await body.next() {
            if !bytes.isEmpty { return bytes }
        }
        return nil
    }

    nonisolated(nonsending) package func write(_ bytes: [UInt8]) async throws {
        guard !bytes.isEmpty else { return }
        do {
            try await writer.write(bytes)
        } catch let error as CancellationError {
            body.close()
            throw error
        }
    }

    /// See ``ByteWriter/finish()``.
    nonisolated(nonsending) package func finish() async { await writer.finish() }

    /// See ``ByteWriter/unsent``.
    package var unsent: Int { writer.unsent }

    package func close() { body.close() }

    package var arrivals: CallersExecutor? { body.arrivals }
}
