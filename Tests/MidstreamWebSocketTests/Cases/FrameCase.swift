import Testing
import WebSocketFrames

/// Frames of a server, and what a client is to make of them.
struct FrameCase: Sendable, CustomTestStringConvertible {
    let name: String
    let bytes: [UInt8]
    let events: [MessageReader.Event]
    /// With what the connection is to be closed; nil: it goes on.
    let violation: UInt16?

    init(_ name: String, _ frames: [[UInt8]], _ events: [MessageReader.Event] = [], violation: UInt16? = nil) {
        self.name = name
        bytes = frames.flatMap { $0 }
        self.events = events
        self.violation = violation
    }

    var testDescription: String { name }

    /// What the reader makes of the bytes when they come in these pieces.
    func played(_ pieces: [[UInt8]], limit: Int = 64 << 20) -> (events: [MessageReader.Event], violation: UInt16?) {
        var reader = MessageReader(role: .client, messageLimit: limit)
        var events: [MessageReader.Event] = []
        for piece in pieces {
            do {
                try reader.take(piece) { events.append($0) }
            } catch {
                return (events, error.code)
            }
        }
        return (events, nil)
    }
}

extension MessageReader.Event {
    static func text(_ bytes: [UInt8]) -> Self { .text(String(decoding: bytes, as: UTF8.self)) }
}

/// A server's frame; `bits` are the three reserved ones.
func frame(_ opcode: UInt8, _ payload: [UInt8] = [], isFinal: Bool = true, bits: UInt8 = 0) -> [UInt8] {
    var bytes = FrameWriter.frame(.binary, payload)
    bytes[0] = opcode | (isFinal ? 0x80 : 0) | bits << 4
    return bytes
}

func frame(_ opcode: UInt8, _ text: String, isFinal: Bool = true) -> [UInt8] { frame(opcode, Array(text.utf8), isFinal: isFinal) }

/// A payload in so many frames.
func fragments(_ opcode: UInt8, _ payload: [UInt8], of size: Int) -> [[UInt8]] {
    stride(from: 0, to: payload.count, by: size).map { start in
        let end = min(payload.count, start + size)
        return frame(start == 0 ? opcode : 0, Array(payload[start..<end]), isFinal: end == payload.count)
    }
}

func closeFrame(_ code: UInt16, _ reason: [UInt8] = []) -> [UInt8] { frame(8, [UInt8(code >> 8), UInt8(code & 0xFF)] + reason) }
