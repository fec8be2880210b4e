#if os(Linux)
    internal import MidstreamLoop

    /// Streams wait here for the server to take further ones, since nghttp2 would keep those that are cancelled meanwhile.
    extension HTTP2Connection {
        /// Whether a further stream joins those that wait.
        var mustWait: Bool { !waiting.isEmpty || !hasPlace }

        private var hasPlace: Bool { submitted < session?.streamLimit ?? .max }

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
            while hasPlace, let next = waiting.first {
                guard open(next.stream, next.fields) else { return distrust() }
                waiting.removeFirst()
            }
        }

        /// Lets no further streams begin, not even those that wait: its server was too slow, or the session takes none.
        func distrust() {
            retire()
            for stream in unopened { stream.leave() }
        }

        /// Those of which nothing is on its way, in their order; the session may have some, too, when the system takes nothing.
        var unopened: [HTTP2Stream] {
            Self.inOrder(streams.values.filter { session?.hasOpened(stream: $0.id) == false }) + waiting.map { $0.stream }
        }
    }
#endif
