private enum ServersAnswerKey: RequestContextKey { static let defaultValue = false }

extension HTTPRequest {
    /// Whether nobody may answer in the server's place, since the answer is taken for a login, for the proof that an upload has arrived, or
    /// for the last page of a list, or ends what would connect again.
    package var needsServersAnswer: Bool {
        get { carries(ServersAnswerKey.self) && context[ServersAnswerKey.self] }
        set { context[ServersAnswerKey.self] = newValue }
    }
}
