#if os(Linux)
    import MidstreamCore
    import TestSupport
    import Testing

    /// What a server does wrong, or oddly, and what has to come of it.
    struct Misbehaviour: Sendable, CustomTestStringConvertible {
        enum Outcome: Sendable, Equatable {
            /// Nothing is wrong with it: the body.
            case answered(String)
            /// The request may be sent again, and is.
            case sentAgain
            /// A rule of the messages is broken, or of the stream (RFC 9113 §5.4.2): told as that.
            case malformed
            /// A rule of the connection is broken (§5.4.1): told as that, though not by every libcurl.
            case brokenConnection
            /// The server ends what it has begun.
            case lost
        }

        /// When it shows.
        private enum Moment {
            /// In place of the server's preface.
            case beginning
            /// When a request has come, after which the server answers well.
            case answer
            /// When a request has come, and with the connection's end.
            case end
        }

        let name: String
        let outcome: Outcome
        /// Where libcurl does otherwise.
        let exception: HTTP2Limitation?
        private let moment: Moment
        /// What is sent, given the stream of the request.
        let bytes: @Sendable (UInt32) -> [UInt8]

        var testDescription: String { name }

        /// What the server does, from the connection's first byte.
        func script(_ peer: HTTP2Peer) {
            if moment == .beginning {
                guard peer.readPreface() else { return }
                peer.write(bytes(1))
                return peer.connection.waitForEnd()
            }
            guard peer.begin(), let stream = peer.nextRequest() else { return }
            peer.write(bytes(stream))
            if moment == .answer { peer.answerAll() }
        }

        static func beginning(_ name: String, _ bytes: [UInt8]) -> Misbehaviour {
            Misbehaviour(name: name, outcome: .brokenConnection, exception: nil, moment: .beginning) { _ in bytes }
        }

        static func answering(
            _ name: String, _ outcome: Outcome, _ exception: HTTP2Limitation? = nil,
            _ bytes: @escaping @Sendable (UInt32) -> [UInt8]
        ) -> Misbehaviour {
            Misbehaviour(name: name, outcome: outcome, exception: exception, moment: .answer, bytes: bytes)
        }

        static func ending(
            _ name: String, _ outcome: Outcome = .lost, _ exception: HTTP2Limitation? = nil,
            _ bytes: @escaping @Sendable (UInt32) -> [UInt8]
        ) -> Misbehaviour {
            Misbehaviour(name: name, outcome: outcome, exception: exception, moment: .end, bytes: bytes)
        }

        /// Fields of a head that make it malformed (RFC 9113 §8.1.1), though its body follows.
        static func fields(_ name: String, _ fields: [HPACKField], _ exception: HTTP2Limitation? = nil) -> Misbehaviour {
            answering(name, .malformed, exception) {
                HTTP2Frame.headers(fields, stream: $0) + HTTP2Frame.data("ok", end: true, stream: $0)
            }
        }
    }

    /// What libcurl, or the nghttp2 in it, does otherwise than RFC 9113 says, and nothing outside of it can mend. All of it is in
    /// this list. Measured with libcurl 7.88.1 (nghttp2 1.52) and 8.23.0 (nghttp2 1.70); where the change came between the two is
    /// taken to be 8.1.0, for which libcurl's HTTP/2 was rewritten.
    enum HTTP2Limitation: Sendable {
        /// Before 8.1.0: when the connection is broken after the head, libcurl waits for the server to close it. Where the server
        /// doesn't, the idle timeout ends the exchange; where it does, a body whose length isn't known passes for whole.
        case brokenConnectionPassesForEnd
        /// A stream that is reset without an error passes for whole if its body's length isn't known. 7.88 takes it for an error.
        case cleanResetPassesForEnd
        /// A field with bytes that no field may have is left out, rather than the message refused. 7.88 refuses it.
        case badFieldsAreLeftOut
        /// Streams that a GOAWAY gives up aren't sent again but fail, before 8.1.0.
        case goAwayIsAnError
        /// A status of three digits is taken although it is below 100, before 8.1.0.
        case smallStatusIsTaken
        /// PRIORITY is looked at although RFC 9113 §5.3.2 has it ignored: a stream that depends on itself breaks the connection
        /// before 8.1.0.
        case priorityIsChecked
        /// The end of the connection takes the place of END_STREAM once the body is as long as its `content-length`, before 8.1.0.
        case lengthEndsStream
        /// A body that ends before its `content-length` isn't told from other violations.
        case shortBodyIsAViolation
        /// A rule that the server says to be broken isn't told from one that it has broken.
        case accusationIsAViolation

        /// The outcomes that the transport may have instead; empty: none.
        var outcomes: [Result] {
            guard applies else { return [] }
            return switch self {
            case .brokenConnectionPassesForEnd: [.failure(.timeout), .success("")]
            case .goAwayIsAnError: [.failure(.connectionLost)]
            case .shortBodyIsAViolation, .accusationIsAViolation: [.failure(.protocolViolation)]
            case .priorityIsChecked: [.failure(.connectionLost), .failure(.protocolViolation)]
            case .cleanResetPassesForEnd, .badFieldsAreLeftOut, .smallStatusIsTaken, .lengthEndsStream: [.success("ok")]
            }
        }

        enum Result: Equatable {
            case success(String)
            case failure(HTTPError.Code)
        }
    }

    extension Misbehaviour.Outcome {
        /// What may come of it.
        var results: [HTTP2Limitation.Result] {
            switch self {
            case .answered(let body): [.success(body)]
            case .sentAgain: [.success(HTTP2Server.later)]
            case .malformed: [.failure(.protocolViolation)]
            case .brokenConnection: [.failure(.protocolViolation)] + Self.otherwiseOfBrokenConnection
            case .lost: [.failure(.connectionLost)]
            }
        }
    }
#endif
