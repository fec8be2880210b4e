internal import Foundation
internal import Interception
internal import MidstreamCore

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Hands what a session reports to the exchange that it is about.
final class SessionDelegate: NSObject, URLSessionDataDelegate {
    private let exchanges = Locked<[Int: Exchange]>([:])
    #if !canImport(FoundationNetworking)
        private let sockets = Locked<[Int: SocketTask]>([:])
    #endif
    #if canImport(Security)
        /// nil: the system decides by itself.
        private let trust: SessionTrust?

        init(trust: SessionTrust? = nil) { self.trust = trust }
    #endif

    func add(_ exchange: Exchange, as task: URLSessionTask) {
        exchanges.withLock { $0[task.taskIdentifier] = exchange }
    }

    /// Those whose tasks haven't ended.
    var current: [Exchange] { exchanges.withLock { Array($0.values) } }

    private func exchange(of task: URLSessionTask) -> Exchange? {
        exchanges.withLock { $0[task.taskIdentifier] }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        exchange(of: dataTask)?.receive(head: response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        exchange(of: dataTask)?.receive(data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        #if !canImport(FoundationNetworking)
            sockets.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.complete(error)
        #endif
        let exchange = exchanges.withLock { $0.removeValue(forKey: task.taskIdentifier) }
        // Linux reports no head for a redirect that leads nowhere; the task has it.
        exchange?.complete(error, head: task.response)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    #if canImport(FoundationNetworking)
        /// On Linux a 401 that names a scheme ends here, after its body: without an answer the task would never complete, and
        /// default handling is no answer. The only one that doesn't send the request again is to give the task up.
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            exchange(of: task)?.completeBody()
            // Giving up waits for the queue that this runs on.
            DispatchQueue.global().async { completionHandler(.cancelAuthenticationChallenge, nil) }
        }
    #else
        /// Asked about servers and for the client's certificate, too, since the session's own method isn't there.
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            guard let trust else { return completionHandler(.performDefaultHandling, nil) }
            // A check may look for certificates on the network, while all exchanges of the session would wait for its queue.
            DispatchQueue.global().async {
                switch trust.answer(challenge) {
                case .byDefault: completionHandler(.performDefaultHandling, nil)
                case .credential(let credential): completionHandler(.useCredential, credential)
                case .refusal(let reason):
                    // First, since the session's own error would say that the task was cancelled.
                    self.refuse(task, reason)
                    completionHandler(.cancelAuthenticationChallenge, nil)
                }
            }
        }

        private func refuse(_ task: URLSessionTask, _ reason: String) {
            if let exchange = exchange(of: task) {
                exchange.giveUp(HTTPError(.tls, reason, request: exchange.request, phase: .notSent))
            }
            if let socket = sockets.withLock({ $0[task.taskIdentifier] }) {
                socket.giveUp(HTTPError(.tls, reason, request: socket.request, phase: .notSent))
            }
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
        ) {
            completionHandler(exchange(of: task)?.makeBodyStream())
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
            exchange(of: task)?.receive(metrics)
        }
    #endif
}

#if !canImport(FoundationNetworking)
    extension SessionDelegate: URLSessionWebSocketDelegate {
        func add(_ socket: SocketTask, as task: URLSessionTask) { sockets.withLock { $0[task.taskIdentifier] = socket } }

        /// Those whose tasks haven't ended.
        var currentSockets: [SocketTask] { sockets.withLock { Array($0.values) } }

        func urlSession(
            _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol subprotocol: String?
        ) {
            sockets.withLock { $0[webSocketTask.taskIdentifier] }?.opened(subprotocol)
        }
    }
#endif
