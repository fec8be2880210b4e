/// The credentials of an AWS identity. Shows the key's id and no secret.
public struct AWSCredentials: Sendable, Hashable {
    /// The id of the access key.
    public var accessKeyID: String
    /// The secret of the access key.
    public var secretAccessKey: String
    /// The session's token, for temporary credentials.
    public var sessionToken: String?

    /// Makes credentials.
    public init(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil) {
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.sessionToken = sessionToken
    }
}

extension AWSCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The key's id, and whether it is temporary.
    public var description: String { "AWS key \(accessKeyID)" + (sessionToken == nil ? "" : ", temporary") }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["credentials": description]) }
}
