/// How a socket was closed. Behind ``HTTPError/Code/connectionLost`` it is ``HTTPError/underlying``; that error is transient
/// (``HTTPError/isTransient``) unless the server has closed it, or what it brought was refused, with 1002, 1007, 1008, 1009 or 1010.
public struct WebSocketClosure: Error, Sendable, Hashable {
    /// Why a socket is closed (RFC 6455 §7.4.1, and the IANA registry): 3000 to 3999 are for libraries, 4000 to 4999 for whatever two programs agree on.
    public struct Code: RawRepresentable, ExpressibleByIntegerLiteral, Sendable, Hashable, CustomStringConvertible {
        /// The number.
        public let rawValue: UInt16

        /// Takes any number.
        public init(rawValue: UInt16) { self.rawValue = rawValue }
        /// Takes any number.
        public init(integerLiteral value: UInt16) { rawValue = value }

        /// 1000: the socket has served its purpose.
        public static let normal: Code = 1000
        /// 1001: one side goes away.
        public static let goingAway: Code = 1001
        /// 1002: one side doesn't keep to the protocol.
        public static let protocolError: Code = 1002
        /// 1003: data of a kind that can't be accepted.
        public static let unsupportedData: Code = 1003
        /// 1005: the other side gave no code. Can't be sent.
        public static let none: Code = 1005
        /// 1006: the connection was lost without a word. Can't be sent.
        public static let abnormal: Code = 1006
        /// 1007: a text that isn't UTF-8, or data that can't be inflated.
        public static let invalidData: Code = 1007
        /// 1008: against a policy.
        public static let policyViolation: Code = 1008
        /// 1009: a message too large.
        public static let tooLarge: Code = 1009
        /// 1010: the server lacks an extension.
        public static let missingExtension: Code = 1010
        /// 1011: the server failed.
        public static let internalError: Code = 1011
        /// 1012: the server starts anew.
        public static let restart: Code = 1012
        /// 1013: later, perhaps.
        public static let tryAgainLater: Code = 1013

        /// The number.
        public var description: String { "\(rawValue)" }
    }

    /// Why.
    public let code: Code
    /// In words, as the side that closed says it; often empty.
    public let reason: String
    /// Whether the other side began to close; false for a connection that was lost, too.
    public let byPeer: Bool

    /// Makes a value, as tests do.
    public init(code: Code, reason: String = "", byPeer: Bool) {
        self.code = code
        self.reason = reason
        self.byPeer = byPeer
    }

    /// Whether all is well.
    var isClean: Bool { code == .normal || code == .goingAway }

    /// Whether another socket would end in the same way.
    var isForGood: Bool {
        [Code.protocolError, .invalidData, .policyViolation, .tooLarge, .missingExtension].contains(code)
    }
}

extension WebSocketClosure: CustomStringConvertible {
    /// Such as `1000, by the server: bye`.
    public var description: String { "\(code)\(byPeer ? ", by the server" : "")\(reason.isEmpty ? "" : ": \(reason)")" }
}
