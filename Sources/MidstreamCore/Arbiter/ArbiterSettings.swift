package import Foundation

/// What the arbiter is told by a client's configuration.
package struct ArbiterSettings: Sendable {
    package var timeout: Duration?
    package var deadline: Duration?
    package var maxRetries = 0
    package var validators: [any HTTPValidator] = []
    package var retryBudget: RetryBudget?
    package var maximumRetryAfter = Duration.seconds(60)
    package var sharesRetryAfter = false
    package var clock: any Clock<Duration> = ContinuousClock()
    package var now: @Sendable () -> Date = { Date() }
    package var random: @Sendable () -> Double = { Double.random(in: 0..<1) }
}
