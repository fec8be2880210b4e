extension ForeignParser {
    /// Reads the bytes in another, simple way where there is one, and ends the process when that gives something else.
    public func check(_ bytes: [UInt8]) {
        #if os(Linux)
            guard self == .responseHead else { return }
            let (received, plain) = (ReceivedHeads.parts(bytes), PlainHeads.parts(bytes))
            precondition(received == plain, "read as \(received), and line by line as \(plain)")
        #endif
    }
}
