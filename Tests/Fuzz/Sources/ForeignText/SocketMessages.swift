@testable import WebSocketFrames

/// Has a compressed message of a socket inflated, twice, since the second may refer to the first. The first byte says how large the window
/// is, and the second how long the fragments are.
enum SocketMessages {
    static func windowBits(_ bytes: [UInt8]) -> Int { 8 + Int((bytes.first ?? 0) & 7) }

    static func parts(_ bytes: [UInt8], isCut: Bool = true) -> [SocketFrames.Part] {
        guard bytes.count > 2 else { return [] }
        var reader = MessageReader(
            role: .client, messageLimit: 100_000, inflater: Inflater(windowBits: windowBits(bytes)))
        let frames = frames(Array(bytes[2...]), size: isCut ? Int(bytes[1]) + 1 : bytes.count)
        var parts: [SocketFrames.Part] = []
        for frame in frames + frames {
            do throws(FrameViolation) {
                try reader.take(frame) { parts.append(.event($0)) }
            } catch {
                return parts + [.violation(error.code)]
            }
        }
        return parts
    }

    private static func frames(_ payload: [UInt8], size: Int) -> [[UInt8]] {
        stride(from: 0, to: payload.count, by: size).map { start in
            let part = payload[start...].prefix(size)
            return FrameWriter.frame(
                start == 0 ? .binary : .continuation, Array(part), isFinal: part.endIndex == payload.count,
                isCompressed: start == 0)
        }
    }
}
