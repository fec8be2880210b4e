internal import MidstreamPlatform

/// What frames are masked with, which nobody can tell in advance (RFC 6455 §10.3).
package struct Masks {
    /// Many at a time: asking the system for each takes a tenth of the time in which a server nearby echoes a message.
    private var drawn: [UInt32] = []

    package init() {}

    package mutating func next() -> UInt32 {
        if drawn.isEmpty {
            drawn = [UInt32](unsafeUninitializedCapacity: System.mostEntropy / 4) { words, count in
                count = words.count
                guard !System.fillRandomly(UnsafeMutableRawBufferPointer(words)) else { return }
                for place in words.indices { words[place] = .random(in: 0 ... .max) }
            }
        }
        return drawn.removeLast()
    }
}
