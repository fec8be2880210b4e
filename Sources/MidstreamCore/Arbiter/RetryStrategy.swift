/// When and how an attempt is repeated.
public struct RetryStrategy: Sendable {
}
