#if os(Linux)
    import Glibc
    internal import MidstreamCore
    internal import MidstreamTransport
    internal import MidstreamLoop

    /// A connection to a server that speaks HTTP/2 (RFC 9113), for many transfers at a time.
    ///
    /// `@unchecked Sendable`: touched only on the loop's thread; what is posted to the loop only carries it there.
    final class HTTP2Connection: Connection, @unchecked Sendable {
        /// How much is put together before it is sent.
        private static let outputSize = 64 << 10
        /// How much is read before other connections have their turn: 256 KiB, which may be ten thousand frames.
        private static let turn = 256 << 10
        /// How many frames that bring nothing may come one after the other within the time of a flood (RFC 9113 §10.5).
        private static let mostIdleFrames = 1_000
        /// In nanoseconds: 10 s. Those of a quiet connection, such as its PINGs, come in hours.
        private static let timeOfFlood: UInt64 = 10_000_000_000
        /// How many more may come for what has been sent before: those of a window of 512 MiB that is given back in parts of 16 KiB.
        private static let mostOwed = 65_536
        /// How much may come of a stream that this side has reset: a window, and as much for the heads of its frames.
        private static let mostOnItsWay = 2 * Int(HTTP2Session.connectionWindow)
        /// How many streams there are at a time, whatever the server takes.
        private static let mostStreams = 1_000

        @exclusivity(unchecked) private(set) var session: HTTP2Session?
        var streams: [Int32: HTTP2Stream] = [:]
        /// Those that wait for the server to take further ones, in their order.
        var waiting = StreamLine()
        /// How many the session has whose end it hasn't told, those without a transfer included.
        @exclusivity(unchecked) var submitted = 0
        /// How many streams the server takes before it has told: more may be refused, and a server that refuses many ends the connection. As many
        /// as it has told on another one.
        @exclusivity(unchecked) var presumedLimit = 1
        /// It has told.
        @exclusivity(unchecked) var hasSettings = false
        /// The one whose fields come: they come together (RFC 9113 §4.3).
        @exclusivity(unchecked) private var receiving: HTTP2Stream?
        @exclusivity(unchecked) private var hasServed = false
        /// A request has left.
        @exclusivity(unchecked) private var hasOpened = false
        /// Nothing has come yet.
        @exclusivity(unchecked) private(set) var isNew = true
        /// No further streams begin.
        @exclusivity(unchecked) private(set) var isRetired = false
        /// It is to be closed once what the session has to say is sent.
        private var isEnding = false
        /// The pool's: it is among those without a stream.
        @exclusivity(unchecked) var isIdle = false
        /// What has been put together and the system hasn't taken.
        private var output: [UInt8] = []
        @exclusivity(unchecked) private var outputSent = 0
        /// How much of what the session has made the system hasn't taken.
        var unsent: Int { output.count - outputSent + channel.unsent }
        @exclusivity(unchecked) private var willBeFlushed = false
        /// Below zero: so many are owed for what has been sent.
        @exclusivity(unchecked) private var idleFrames = 0
        /// How many bytes have come in frames of which nghttp2 doesn't tell: those of streams that are over. Below zero: so many may come.
        @exclusivity(unchecked) private var untold = 0
        /// Since when they are counted, in nanoseconds of the monotonic clock.
        @exclusivity(unchecked) private var idleFramesSince: UInt64
        /// When something was received last, in nanoseconds of the monotonic clock.
        @exclusivity(unchecked) private var lastReceived: UInt64
        /// The server has been asked for an answer, and nothing has come since.
        @exclusivity(unchecked) var isPinging = false
        /// How long it has for that, in nanoseconds.
        var answerLimit: UInt64 = 0
        /// Where that question ends among all bytes that are sent, about; and how many of them had arrived when its time began.
        var pingEnd = 0
        var acknowledged = 0
        /// The rule that the server has broken.
        private var violation: String?
        /// Why the server has ended the connection, which it hasn't closed yet.
        private var ending: String?

        override init(_ channel: Channel, route: Route, loop: any ConnectionLoop) {
            lastReceived = loop.now
            idleFramesSince = loop.now
            super.init(channel, route: route, loop: loop)
            session = HTTP2Session(owner: self)
            // Whether or not a request comes: some servers wait only briefly for the preface.
            flushSoon()
        }

        /// Sends a transfer's request, and receives its response. A connection that was made for it gives its times.
        func begin(_ transfer: WireTransfer, _ times: DialTimes? = nil) {
            assert(loop.isCurrent)
            let fields = HTTP2Fields(transfer.requestHead)
            guard fields.largestSize <= HTTP2Session.largestRequestHead else { return refuse(transfer) }
            transfer.willSend(over: channel.endpoints, times)
            let stream = HTTP2Stream(transfer, on: self)
            if mustWait {
                waiting.append(stream, fields)
            } else if !open(stream, fields) {
                retire()
                guard !hasServed else { return loop.connectAnew(transfer) }
                return loop.finish(transfer, HTTPError.noResources(ENOMEM), isClean: false)
            }
            hasServed = true
            let silence = transfer.settings.silence
            if loop.now - lastReceived >= silence.longest { ping(answeredWithin: silence.longestAnswer) }
            transfer.connection = stream
            flushSoon()
        }

        private func refuse(_ transfer: WireTransfer) {
            let error = HTTPError(
                .invalidRequest, "The head of the request is larger than 1 MiB.", request: transfer.request, phase: transfer.phase
            )
            loop.finish(transfer, error, isClean: true)
            goOn(after: transfer)
        }

        var hasStreams: Bool { streamCount > 0 }

        /// How many there are, those included that wait.
        var streamCount: Int { streams.count + waiting.count }

        /// Whether a further stream could begin at once. One always may, since a server's limit of zero doesn't last.
        var hasRoom: Bool { streamCount < max(1, min(session?.streamLimit ?? 0, Self.mostStreams)) }

        /// What has come since the last look is taken, since the server may have said that it takes no further streams.
        override var isUsable: Bool {
            if isTooOld { hasStreams ? retire() : endSoon() }
            if !hasStreams, loop.lastWholeWait <= idleSinceWait {
                channel.expectsSomething()
                receive()
            }
            return !isRetired && !channel.isClosed
        }

        /// Lets no further streams begin.
        func retire() {
            guard !isRetired else { return }
            isRetired = true
            loop.retire(self)
        }

        static func inOrder(_ streams: some Sequence<HTTP2Stream>) -> [HTTP2Stream] {
            streams.sorted { $0.id < $1.id }
        }

        /// The stream's transfer has ended.
        func remove(_ stream: HTTP2Stream, _ code: HTTP2ErrorCode?) {
            assert(loop.isCurrent)
            if stream.id == 0 {
                guard stream.isWaiting else { return }
                waiting.remove(stream)
            } else {
                guard streams.removeValue(forKey: stream.id) != nil else { return }
                if receiving === stream { receiving = nil }
                if let code {
                    session?.reset(stream: stream.id, code)
                    expectUntold()
                    flushSoon()
                }
            }
            if !channel.isClosed { goOn(after: stream.transfer) }
        }

        /// Has others begin in the place of a transfer that has ended.
        private func goOn(after transfer: WireTransfer) {
            guard !hasStreams else { return loop.hasRoom(self) }
            if isRetired || isTooOld || !transfer.settings.configuration.keepsConnections { return endSoon() }
            loop.isIdle(self)
        }

        /// Closes the connection once what the session has to say is sent: within its callbacks that can't be done, and a session that is ended
        /// there goes on reading what has come with it, and aborts the process when it finds a frame of a wrong length.
        private func endSoon() {
            isEnding = true
            retire()
            flushSoon()
        }

        /// Closes the connection, which has no stream.
        func end() {
            endSoon()
            flush()
        }

        // MARK: Sending

        func flushSoon() {
            guard !willBeFlushed else { return }
            willBeFlushed = true
            loop.flushLater(self)
        }

        /// Sends what there is to be sent, as far as the system takes it.
        func flush() {
            assert(loop.isCurrent)
            willBeFlushed = false
            guard !channel.isClosed else { return }
            if isEnding { session?.end(.noError) }
            sendOutput()
            if isEnding { channel.close() }
        }

        private func sendOutput() {
            var rest = 16
            while rest > 0 {
                if outputSent == output.count {
                    output.removeAll(keepingCapacity: hasStreams)
                    outputSent = 0
                    session?.takeOutput(into: &output, limit: Self.outputSize)
                }
                guard !output.isEmpty else {
                    if session?.isOver == true { lose(nil) }
                    return
                }
                let count = output.withUnsafeBytes { channel.write(UnsafeRawBufferPointer(rebasing: $0[outputSent...])) }
                // When nothing can be sent any more, reading tells why.
                guard let count, count > 0 else { return }
                outputSent += count
                rest -= 1
            }
            // The rest is sent after the others' turn.
            loop.post(.run { [weak self] in self?.flush() })
        }

        // MARK: Receiving

        override func channelIsReady() {
            assert(loop.isCurrent)
            // What was left for later may come after its end.
            guard !channel.isClosed else { return }
            receive()
            flush()
            // Not before a reset has left that nghttp2 has made.
            if untold >= 9 * (Self.mostIdleFrames + 1) { endFlood("The server went on with streams that were over.") }
        }

        private func receive() {
            var rest = Self.turn
            while rest > 0 {
                switch channel.read() {
                case .bytes(let bytes):
                    rest -= bytes.count
                    noteAnswer()
                    guard session?.receive(bytes) == true else {
                        return close(violating: violation ?? "The server broke a rule of HTTP/2.")
                    }
                    untold += bytes.count
                    if idleFrames > Self.mostIdleFrames {
                        return endFlood("The server sent more than \(Self.mostIdleFrames) frames that brought nothing.")
                    }
                case .wait:
                    if ending != nil { lose(nil) }
                    return
                case .ended: return lose(nil)
                case .failed(let failure): return lose(failure)
                }
            }
            // The rest is read after the others' turn.
            loop.post(.run { [weak self] in self?.channelIsReady() })
        }

        private func noteAnswer() {
            isNew = false
            lastReceived = loop.now
            if lastReceived - idleFramesSince > Self.timeOfFlood {
                idleFramesSince = lastReceived
                forgetIdleFrames()
                untold = min(untold, 0)
            }
            endPing()
        }

        // MARK: Ends

        private func endFlood(_ text: String) {
            guard !channel.isClosed else { return }
            session?.end(.enhanceYourCalm)
            flush()
            close(violating: text)
        }

        private func close(violating text: String) {
            violation = text
            lose(nil)
        }

        /// The connection is gone.
        func lose(_ failure: ChannelFailure?) {
            guard !channel.isClosed else { return }
            retire()
            endPing()
            channel.close()
            let ended = Self.inOrder(streams.values) + waiting.takeAll()
            streams = [:]
            receiving = nil
            for stream in ended { stream.lose(failure, violation: violation, ending: ending) }
        }
    }

    /// What the session tells of its streams, all of it within ``HTTP2Session/receive(_:)`` and ``HTTP2Session/takeOutput(into:limit:)``.
    extension HTTP2Connection {
        /// A stream has ended for both sides, or won't be opened.
        func didClose(stream id: Int32, _ code: HTTP2ErrorCode) {
            // One with an even number is the server's, who may not know yet that none of those is wanted.
            if id % 2 == 1 { submitted -= 1 }
            streams[id]?.didClose(code)
            openWaiting()
        }

        /// A frame of any kind comes.
        func willReceive(frame type: UInt8, length: Int, isLast: Bool, ofStream stream: Int32) {
            untold -= length + 9
            // A CONTINUATION goes on with the fields.
            guard type != 9 else {
                receiving?.willReceive(frame: length, isOfBody: false, isLast: false)
                return idleFrames += 1
            }
            receiving = type == 1 ? streams[stream] : nil
            (type == 0 ? streams[stream] : receiving)?.willReceive(frame: length, isOfBody: type == 0, isLast: isLast)
            // The head of a response that is waited for is something, and so are bytes of a body.
            if receiving == nil { idleFrames += 1 } else { forgetIdleFrames() }
        }

        /// Leaves those that are owed: a server may answer before it has read what was sent.
        private func forgetIdleFrames() { idleFrames = min(idleFrames, 0) }

        /// A stream is reset, and the server goes on until it hears of it.
        private func expectUntold() { untold = min(untold, -Self.mostOnItsWay) }

        /// False stops the stream.
        func receive(field name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> Bool {
            receiving?.receive(field: name, value) ?? true
        }

        func receiveEndOfFields(endsStream: Bool) {
            receiving?.receiveEndOfFields(endsStream: endsStream)
            receiving = nil
        }

        func receive(data: UnsafeRawBufferPointer, ofStream stream: Int32) {
            forgetIdleFrames()
            // Only what its reader is behind with holds up a stream, and never the others.
            session?.consumeConnection(data.count)
            if let stream = streams[stream] { stream.receive(data) } else { session?.consume(data.count, ofStream: stream) }
        }

        /// The server takes no further streams; told before those end that it hasn't processed.
        func didReceiveGoAway(_ code: HTTP2ErrorCode) {
            retire()
            if code == .http11Required { loop.leaveHTTP2(route) }
            // Nothing more comes then, though some servers leave the connection as it is (RFC 9113 §5.4.1).
            if code != .noError, code != .http11Required { ending = "The server has ended the connection: \(code.name)." }
            // Those that wait would wait for what is still answered, and then be refused. That isn't counted where others have left, so that it
            // comes to an end with them.
            for stream in unopened { hasOpened ? stream.leave(resetting: nil) : stream.didClose(.refusedStream) }
            if !hasStreams { endSoon() }
        }

        /// The session is ended from this side.
        func didSendGoAway(_ code: HTTP2ErrorCode) {
            if code != .noError { violation = violation ?? "The server broke a rule of HTTP/2: \(code.name)." }
            retire()
        }

        func didSend(frame type: UInt8, length: Int, isLast: Bool, ofStream stream: Int32) {
            // Heads and bodies.
            guard type <= 1 else {
                guard type == 3 else { return }
                expectUntold()
                // One that is still here nghttp2 has reset, and of a body of another length than its head says it tells in no other way.
                streams[stream]?.isViolated = true
                return
            }
            // The server gives back what it has read in parts as small as it likes, for the stream and for the connection (RFC 9113 §6.9).
            if type == 0 { idleFrames = max(idleFrames - 4 - length / 512, -Self.mostOwed) } else { hasOpened = true }
            streams[stream]?.didSend(length + 9, isLast: isLast)
        }
    }
#endif
