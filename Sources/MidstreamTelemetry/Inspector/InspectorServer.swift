internal import LoopbackServer
internal import MidstreamCore

/// Serves the live page. Its threads hold it and not the observer, whose release ends them.
final class InspectorServer: Sendable {
    private static let maximumConnections = 16
    private static let maximumHead = 16 << 10
    /// How often a reader gets new calls.
    private static let milliseconds: Int32 = 100

    private let listener: Listener
    private let calls: RecentCalls
    private let patience: Duration
    private let path: InspectorPath

    init(port: Int, calls: RecentCalls, patience: Duration) throws {
        listener = try Listener(port: port)
        path = InspectorPath(port: listener.port)
        self.calls = calls
        self.patience = patience
        try listener.start(upTo: Self.maximumConnections) { [self] socket, _ in serve(socket) }
        ResourceWitness.tell(of: self)
    }

    var url: String { path.url }
    var connectionCount: Int { listener.openConnections }

    func close() { try? listener.stop() }

    /// Answers one request.
    private func serve(_ socket: Socket) {
        var reader = RequestReader(socket, maximumHead: Self.maximumHead, deadline: .now + patience)
        do {
            guard let head = try reader.head() else { return }
            switch path.resource(head.target, head.headers) {
            case nil: try send(.notFound, to: socket)
            case _ where head.method != .get: try send(.methodNotAllowed, [("Allow", "GET")], to: socket)
            case .page: try sendPage(to: socket)
            case .events(let last): try sendEvents(after: last, to: socket)
            }
            socket.finish(until: .now + patience)
        } catch let rejection as Rejection {
            _ = try? send(rejection.status, to: socket)
            socket.finish(until: .now + patience)
        } catch {
            // The client has left or is too slow, or the server is closed.
        }
    }

    private func sendPage(to socket: Socket) throws {
        let page = Array(calls.page().utf8)
        let policy = CallReport.policy(isLive: true) + "; frame-ancestors 'none'"
        try send(
            .ok,
            [
                ("Content-Type", "text/html; charset=utf-8"), ("Content-Length", "\(page.count)"),
                ("Content-Security-Policy", policy),
            ], to: socket)
        try send(page, to: socket)
    }

    /// Goes on until the client leaves or the server is closed.
    private func sendEvents(after last: Int, to socket: Socket) throws {
        // Whoever has seen the head gets each call from then on.
        var last = last
        var events = calls.events(after: &last)
        try send(.ok, [("Content-Type", "text/event-stream")], to: socket)
        while true {
            if !events.isEmpty { try send(Array(events.utf8), to: socket) }
            if socket.waitForPeer(milliseconds: Self.milliseconds) { return }
            events = calls.events(after: &last)
        }
    }

    /// A head. It has no body unless its fields say so.
    private func send(_ status: HTTPStatus, _ fields: [(String, String)] = [], to socket: Socket) throws {
        let always = [
            ("Connection", "close"), ("Cache-Control", "no-store"), ("Referrer-Policy", "no-referrer"),
            ("X-Content-Type-Options", "nosniff"), ("Cross-Origin-Resource-Policy", "same-origin"),
        ]
        let empty = status == .ok ? [] : [("Content-Length", "0")]
        let lines = (always + empty + fields).map { "\($0): \($1)\r\n" }.joined()
        try send(Array("HTTP/1.1 \(status.code) \(status.reason)\r\n\(lines)\r\n".utf8), to: socket)
    }

    private func send(_ bytes: [UInt8], to socket: Socket) throws {
        try bytes.withUnsafeBytes { try socket.send($0, until: .now + patience) }
    }
}
