/// Whose a request will be on the wire, as far as an interceptor or a transport decides that.
///
/// Caches, shared calls and quotas compare identities so that nobody gets what belongs to somebody else. A description doesn't show the
/// user's text.
public enum RequestIdentity: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// Nobody's in particular: no credential is added.
    case nobody
    /// The user's whom this text stands for, such as the number of an access key or a credential itself.
    case user(String)
    /// It can't be known before the request is sent.
    case unknown

    /// Whether both are the same user's, whose text is compared byte by byte, or nobody's, or unknown.
    public static func == (a: RequestIdentity, b: RequestIdentity) -> Bool {
        switch (a, b) {
        case (.user(let a), .user(let b)): a.hasSameBytes(as: b)
        case (.nobody, .nobody), (.unknown, .unknown): true
        default: false
        }
    }

    /// The case's name.
    public var description: String {
        switch self {
        case .nobody: "nobody"
        case .user: "user"
        case .unknown: "unknown"
        }
    }

    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Whose a request will be on the wire beyond the credentials that it has: by the interceptors further in and the transport.
package struct WireIdentity: Sendable, Hashable {
    /// The texts of the users, the outermost first.
    package private(set) var users: [String] = []
    /// Whether none was `.unknown`.
    package private(set) var isCertain = true

    /// Nobody's in particular.
    package init() {}

    package mutating func add(_ identity: RequestIdentity) {
        switch identity {
        case .nobody: break
        case .user(let text): users.append(text)
        case .unknown: isCertain = false
        }
    }
}
