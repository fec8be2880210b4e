internal import Interception

/// Watches a pipeline for the recorder of the call that passes through it.
final class TraceObserver: ChainObserver {
    func willRun(_ index: Int32, with request: HTTPRequest, at position: ChainPosition) -> Int32 {
        position.call?.recorder?.begin(index, request, within: position.pass) ?? -1
    }

    func didRun(returning response: HTTPResponse, at position: ChainPosition) {
        position.call?.recorder?.end(position.pass, response)
    }

    func didRun(throwing error: any Error, at position: ChainPosition) {
        position.call?.recorder?.end(position.pass, error)
    }
}
