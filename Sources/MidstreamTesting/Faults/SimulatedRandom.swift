internal import Foundation
internal import Interception
internal import MidstreamCore

/// Random numbers that are the same whenever the seed is the same.
///
/// Copies share the sequence. All members may be used from any thread; who asks first gets the next number.
public struct SimulatedRandom: RandomNumberGenerator, Sendable {
    private let state: Locked<UInt64>

    /// Begins a sequence.
    public init(seed: UInt64) { state = Locked(seed) }

    /// The next number: SplitMix64.
    public func next() -> UInt64 {
        state.withLock { state in
            state &+= 0x9E37_79B9_7F4A_7C15
            return state.mixed
        }
    }

    /// A number in 0..<1.
    public func share() -> Double { Double(next() >> 11) / 9_007_199_254_740_992 }

    /// Another sequence, which goes on independently of what is taken from this one.
    func split() -> SimulatedRandom { SimulatedRandom(seed: next()) }

    /// A number of the exponential distribution with the mean 1.
    func exponential() -> Double { -log(1 - share()) }

    /// A number of the standard normal distribution (Box and Muller).
    func normal() -> Double { (2 * exponential()).squareRoot() * cos(2 * .pi * share()) }
}
