#if os(Linux)
    package import MidstreamCore

    /// A buffered body while it arrives.
    ///
    /// A large one is kept in pieces, which the caller puts together: copying hundreds of mebibytes when an array grows would hold up all
    /// other requests of the loop.
    package struct ReceivedBytes: Sendable {
        /// Up to here an array may grow: it is copied for that, and both are there meanwhile.
        private static let growth = 1 << 20
        private static let pieceSize = 4 << 20

        private var pieces: [[UInt8]] = []
        private var last: [UInt8] = []
        package private(set) var count = 0

        package init() {}

        /// Whether putting it together copies nothing.
        package var isWhole: Bool { pieces.isEmpty }

        package mutating func reserveCapacity(_ count: Int) { last.reserveCapacity(count) }

        package mutating func append(_ bytes: UnsafeRawBufferPointer) {
            if last.count >= Self.growth, last.count + bytes.count > last.capacity {
                pieces.append(last)
                last = []
                last.reserveCapacity(min(count, Self.pieceSize))
            }
            // Most bodies are a piece, and making an array of it costs a third of growing one.
            if last.capacity == 0 { last = [UInt8](bytes) } else { last.append(contentsOf: bytes) }
            count += bytes.count
        }

        /// All of it; the pieces are given up one after the other.
        package mutating func joined() -> [UInt8] {
            if pieces.isEmpty { return last }
            var whole: [UInt8] = []
            whole.reserveCapacity(count)
            for place in pieces.indices {
                whole += pieces[place]
                pieces[place] = []
            }
            whole += last
            return whole
        }
    }

    /// A response that a transfer hands to its caller.
    package struct ArrivedResponse: Sendable {
        /// Without its body, if that is ``body``.
        package let response: HTTPResponse
        /// A large body, which is still to be put together; nil when the response has its body already.
        package var body: ReceivedBytes?

        package init(response: HTTPResponse, body: ReceivedBytes? = nil) {
            self.response = response
            self.body = body
        }

        /// The response with its body.
        package mutating func whole() -> HTTPResponse {
            guard var pieces = body else { return response }
            // Nobody else may hold the pieces, or they would stay when they are given up.
            body = nil
            var response = response
            response.body = .bytes(pieces.joined())
            return response
        }
    }
#endif
