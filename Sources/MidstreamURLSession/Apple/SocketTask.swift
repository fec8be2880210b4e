#if !canImport(FoundationNetworking)
    internal import Foundation
    internal import Interception
    internal import MidstreamCore
    internal import WebSocketFrames

    /// A `URLSessionWebSocketTask`, from its request to its end.
    final class SocketTask: MessageSocket {
        private struct State {
            var task: URLSessionWebSocketTask?
            /// Why it isn't to begin, or has ended before it stood.
            var failure: (any Error)?
        }

        let request: HTTPRequest
        private let outgoing: OutgoingRequest
        /// The protocol that the server has chosen.
        private let opening = Suspension<Result<String?, any Error>>()
        private let state = Locked(State())
        private let answers = SocketAnswers()

        init(_ request: HTTPRequest, _ outgoing: OutgoingRequest) {
            self.request = request
            self.outgoing = outgoing
        }

        /// The request's answer: 101 with the socket as its connection, or a refusal, whose body the system keeps to itself.
        func response(startingWith begin: (SocketTask) -> Void) async throws -> HTTPResponse {
            begin(self)
            switch await opening.wait() {
            case .value(let result):
                do {
                    return request.switchingProtocols(fields, subprotocol: try result.get(), over: self)
                } catch {
                    guard let head, head.statusCode != 101 else { throw error }
                    return HTTPResponse(status: HTTPStatus(head.statusCode), headers: fields, request: request)
                }
            case .cancelled, .timedOut:
                giveUp(CancellationError())
                throw CancellationError()
            }
        }

        private var head: HTTPURLResponse? { state.withLock { $0.task?.response as? HTTPURLResponse } }
        private var fields: HTTPHeaders { head.map { ResponseHead($0, for: request).headers } ?? HTTPHeaders() }

        // MARK: The session's side

        /// Nil when it has been given up.
        func makeTask(in session: URLSession) -> URLSessionWebSocketTask? {
            state.withLock { state in
                guard state.failure == nil else { return nil }
                let task = outgoing.makeSocketTask(in: session)
                if let limit = request.messageLimit { task.maximumMessageSize = limit }
                state.task = task
                return task
            }
        }

        func opened(_ subprotocol: String?) { opening.resume(.success(subprotocol)) }

        /// The session is done with the task.
        func complete(_ error: (any Error)?) {
            let failure: any Error =
                state.withLock { $0.failure } ?? HTTPError(error ?? URLError(.badServerResponse), for: request, hasHead: false)
            opening.resume(.failure(failure))
            answers.end(failure)
        }

        /// Ends it, whether it stands or not.
        func giveUp(_ error: any Error) {
            state.withLock { if $0.failure == nil { $0.failure = error } }
            opening.resume(.failure(error))
            abandon()
        }

        // MARK: Messages

        private func standing() throws -> URLSessionWebSocketTask {
            guard let task = state.withLock({ $0.task }) else {
                throw HTTPError(.connectionLost, "The socket has ended.", phase: .answered)
            }
            return task
        }

        func send(_ message: SocketMessage) async throws {
            let task = try standing()
            _ = try await answers.wait { answer in
                switch message {
                case .text(let text): task.send(.string(text)) { answer.finish($0) }
                case .binary(let bytes): task.send(.data(Data(bytes))) { answer.finish($0) }
                }
            }
        }

        func receive() async throws -> SocketMessage {
            let task = try standing()
            let message = try await answers.wait { answer in
                task.receive { answer.resume($0.map { SocketMessage($0) }) }
            }
            guard let message else {
                throw HTTPError(.unsupported, "URLSession has received another kind of message.", phase: .answered)
            }
            return message
        }

        func ping() async throws {
            let task = try standing()
            // The handler may be called more than once.
            _ = try await answers.wait { answer in task.sendPing { answer.finish($0) } }
        }

        func close(_ frame: CloseFrame) {
            let code = frame.code.flatMap { URLSessionWebSocketTask.CloseCode(rawValue: Int($0)) } ?? .normalClosure
            state.withLock { $0.task }?.cancel(with: code, reason: Data(frame.reason.utf8))
        }

        func abandon() { state.withLock { $0.task }?.cancel() }

        var closure: CloseFrame? {
            guard let task = state.withLock({ $0.task }), task.closeCode != .invalid else { return nil }
            guard let code = UInt16(exactly: task.closeCode.rawValue), CloseFrame.mayBeSent(code) else {
                return task.closeCode == .noStatusReceived ? CloseFrame(code: nil) : nil
            }
            return CloseFrame(code: code, reason: task.closeReason.map { String(decoding: $0, as: UTF8.self) } ?? "")
        }
    }

    extension SocketMessage {
        /// Nil for another kind than these two.
        fileprivate init?(_ message: URLSessionWebSocketTask.Message) {
            switch message {
            case .string(let text): self = .text(text)
            case .data(let bytes): self = .binary([UInt8](bytes))
            @unknown default: return nil
            }
        }
    }
#endif
