private enum SilenceKey: RequestContextKey { static let defaultValue = false }

extension HTTPRequest {
    /// Whether who reads the response's body limits its silence, so that the transport has no limit for that.
    package var limitsSilenceItself: Bool {
        get { carries(SilenceKey.self) && context[SilenceKey.self] }
        set { context[SilenceKey.self] = newValue }
    }
}
