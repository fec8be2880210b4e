@testable import WebSocketFrames

/// Has the frames of a socket read, however the bytes are cut. The first byte says by which side, and whether with compression.
enum SocketFrames {
    /// What was found.
    enum Part: Equatable {
        case event(MessageReader.Event)
        case violation(UInt16)
    }

    static func parts(_ bytes: [UInt8], cutAt cuts: [Int] = []) -> [Part] {
        guard let first = bytes.first else { return [] }
        var reader = MessageReader(
            role: first & 1 == 0 ? .client : .server, messageLimit: 10_000, fragmentLimit: 20,
            inflater: first & 2 == 0 ? nil : Inflater(windowBits: 15))
        var parts: [Part] = []
        var start = 1
        for cut in cuts.sorted() + [bytes.count] where start...bytes.count ~= cut {
            do throws(FrameViolation) {
                try reader.take(Array(bytes[start..<cut])) { parts.append(.event($0)) }
            } catch {
                return parts + [.violation(error.code)]
            }
            start = cut
        }
        return parts
    }
}
