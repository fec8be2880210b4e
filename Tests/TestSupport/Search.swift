import Foundation
import MidstreamCore

/// How far tests search by random inputs, and from where: a thousandth of the whole search, or all of it under `Scripts/check searches`.
package enum Search {
    /// `MIDSTREAM_SEED`, or a new one that is printed.
    package static let seed: UInt64 = {
        if let given = environment["MIDSTREAM_SEED"].flatMap({ UInt64($0) }) { return given }
        let chosen = UInt64.random(in: 0..<1_000_000_000)
        print("Random searches: MIDSTREAM_SEED=\(chosen) repeats them.")
        return chosen
    }()

    private static let isWhole = environment["MIDSTREAM_SEARCH"] == "whole"
    private static var environment: [String: String] { ProcessInfo.processInfo.environment }

    /// The number of inputs to try, where the whole search has `whole`.
    package static func count(of whole: Int) -> Int { isWhole ? whole : max(1, whole / 1_000) }

    /// The random numbers of one search of several.
    package static func numbers(_ search: Int) -> SeededGenerator {
        SeededGenerator(seed: seed &+ UInt64(search) &* 1_000_003)
    }
}

/// SplitMix64, so that a failure can be repeated.
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return state.mixed
    }
}
