#if os(Linux)
    internal import Interception

    /// Streams that wait, in the order in which they came.
    struct StreamLine {
        private var streams = Queue<(stream: HTTP2Stream, fields: HTTP2Fields)>()
        /// How many of them still wait.
        private(set) var count = 0

        var all: [HTTP2Stream] { streams.all.map { $0.stream }.filter { $0.isWaiting } }

        mutating func append(_ stream: HTTP2Stream, _ fields: HTTP2Fields) {
            stream.isWaiting = true
            streams.append((stream, fields))
            count += 1
        }

        /// The first that still waits; it stays.
        mutating func first() -> (stream: HTTP2Stream, fields: HTTP2Fields)? {
            while let first = streams.first, !first.stream.isWaiting { _ = streams.popFirst() }
            return streams.first
        }

        /// Notes that one doesn't wait any more. They stay, and are skipped, until there are more of them than of those that wait: to let each
        /// go at once would take a look at all.
        mutating func remove(_ stream: HTTP2Stream) {
            stream.isWaiting = false
            count -= 1
            guard count == 0 || streams.count > 2 * count + 16 else { return }
            streams = Queue(streams.all.filter { $0.stream.isWaiting })
        }

        mutating func takeAll() -> [HTTP2Stream] {
            let taken = all
            for stream in taken { stream.isWaiting = false }
            self = StreamLine()
            return taken
        }
    }

    /// Streams wait here for the server to take further ones, since nghttp2 would keep those that are cancelled meanwhile.
    extension HTTP2Connection {
        /// Whether a further stream joins those that wait.
        var mustWait: Bool { waiting.count > 0 || !hasPlace }

        private var hasPlace: Bool { submitted < (hasSettings ? session?.streamLimit ?? .max : presumedLimit) }

        /// False when the session takes no further streams.
        func open(_ stream: HTTP2Stream, _ fields: HTTP2Fields) -> Bool {
            guard let id = session?.submit(fields, hasBody: stream.transfer.isUploading) else { return false }
            stream.id = id
            streams[id] = stream
            submitted += 1
            return true
        }

        /// Opens those that wait, as far as the server takes them; its settings may let it take more than before.
        func openWaiting() {
            while hasPlace, let next = waiting.first() {
                guard open(next.stream, next.fields) else { return distrust() }
                waiting.remove(next.stream)
            }
        }

        /// The server has told how many streams it takes at a time. Those beyond have come when nobody knew, and find another connection.
        func didReceiveSettings() {
            let isFirst = !hasSettings
            hasSettings = true
            openWaiting()
            guard isFirst else { return }
            for stream in waiting.all { stream.makeRoom() }
        }

        /// Lets no further streams begin, not even those that wait: its server was too slow, or the session takes none.
        func distrust() {
            retire()
            for stream in unopened { stream.leave() }
        }

        /// Those of which nothing is on its way, in their order; the session may have some, too, when the system takes nothing.
        var unopened: [HTTP2Stream] {
            Self.inOrder(streams.values.filter { session?.hasOpened(stream: $0.id) == false }) + waiting.all
        }
    }
#endif
