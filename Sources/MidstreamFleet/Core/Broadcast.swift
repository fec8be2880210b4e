internal import Interception

/// Sends elements to any number of streams; of one that isn't read the newest are kept. Each is asked for when it is its turn, so that what is
/// newest comes last.
final class Broadcast<Element: Sendable>: Sendable {
    private struct State {
        var streams: [Int: AsyncStream<Element>.Continuation] = [:]
        var count = 0
        var isClosed = false
    }

    private let capacity: Int
    private let state = Locked(State())

    init(keeping capacity: Int) { self.capacity = capacity }

    var hasStreams: Bool { state.withLock { !$0.streams.isEmpty } }

    func stream(beginningWith first: @autoclosure () -> Element? = nil) -> AsyncStream<Element> {
        AsyncStream(bufferingPolicy: .bufferingNewest(capacity)) { continuation in
            let number = state.withLock { state -> Int? in
                if let element = first() { continuation.yield(element) }
                guard !state.isClosed else { return nil }
                state.count += 1
                state.streams[state.count] = continuation
                return state.count
            }
            guard let number else { return continuation.finish() }
            continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.streams[number] = nil } }
        }
    }

    func send(_ newest: @autoclosure () -> Element) {
        state.withLock { state in
            let element = newest()
            for stream in state.streams.values { stream.yield(element) }
        }
    }

    func close() {
        let streams = state.withLock { state in
            state.isClosed = true
            defer { state.streams = [:] }
            return Array(state.streams.values)
        }
        for stream in streams { stream.finish() }
    }
}
