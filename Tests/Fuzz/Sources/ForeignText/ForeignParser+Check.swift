extension ForeignParser {
    /// Reads the bytes in another, simple way where there is one, and ends the process when that gives something else.
    public func check(_ bytes: [UInt8]) {
        #if os(Linux)
            switch self {
            case .responseHead:
                let (received, plain) = (ReceivedHeads.parts(bytes), PlainHeads.parts(bytes))
                precondition(received == plain, "read as \(received), and line by line as \(plain)")
            case .wireResponse: checkCuts(bytes)
            default: break
            }
        #endif
    }

    #if os(Linux)
        /// However the bytes are cut, they mean the same.
        private func checkCuts(_ bytes: [UInt8]) {
            let plain = PlainResponses.parts(bytes)
            func check(_ cuts: [Int]) {
                let parts = WireResponses.parts(bytes, cutAt: cuts)
                precondition(parts == plain, "cut at \(cuts) read as \(parts), and as the grammar is written as \(plain)")
            }
            check([])
            check(Array(0...bytes.count))
            // Each place would take too long for the search.
            for cut in stride(from: 1, to: bytes.count, by: max(1, bytes.count / 16)) { check([cut]) }
        }
    #endif
}
