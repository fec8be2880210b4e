extension ForeignParser {
    /// Reads the bytes in another, simple way where there is one, and ends the process when that gives something else.
    public func check(_ bytes: [UInt8]) {
        if self == .socketFrames { checkFrames(bytes) }
        if self == .socketMessages { checkMessages(bytes) }
        #if os(Linux)
            switch self {
            case .responseHead:
                let (received, plain) = (ReceivedHeads.parts(bytes), PlainHeads.parts(bytes))
                precondition(received == plain, "read as \(received), and line by line as \(plain)")
            case .wireResponse: WireResponses.check(bytes)
            default: break
            }
        #endif
    }

    /// However the bytes are cut, they mean the same.
    private func checkFrames(_ bytes: [UInt8]) {
        let whole = SocketFrames.parts(bytes)
        for cuts in [Array(0...bytes.count), [bytes.count / 2], [2, 3, bytes.count / 3]] {
            let parts = SocketFrames.parts(bytes, cutAt: cuts)
            precondition(parts == whole, "cut at \(cuts) read as \(parts), and otherwise as \(whole)")
        }
    }

    /// However a message is cut into fragments, it means the same. With a smaller window zlib lets a sender refer to what is older, as long
    /// as it comes of the same piece.
    private func checkMessages(_ bytes: [UInt8]) {
        guard SocketMessages.windowBits(bytes) == 15 else { return }
        let (cut, whole) = (SocketMessages.parts(bytes), SocketMessages.parts(bytes, isCut: false))
        precondition(cut == whole, "in fragments read as \(cut), and otherwise as \(whole)")
    }
}
