#if os(Linux)
    extension WireResponses {
        /// Ends the process when the bytes mean something else as the grammar is written, or cut into pieces.
        static func check(_ bytes: [UInt8]) {
            let plain = PlainResponses.parts(bytes)
            func check(_ cuts: [Int]) {
                let parts = parts(bytes, cutAt: cuts)
                precondition(parts == plain, "cut at \(cuts) read as \(parts), and as the grammar is written as \(plain)")
            }
            check([])
            guard !bytes.isEmpty else { return }
            // Each place would take too long for the search, so the bytes say which.
            let cut = Int(bytes.reduce(UInt(0)) { $0 &* 31 &+ UInt($1) } % UInt(bytes.count))
            check([cut])
            if bytes.count <= 256 { check(Array(0...bytes.count)) }
            // By itself, so that reading past its end is noticed.
            read(Array(bytes[..<cut]))
        }
    }
#endif
