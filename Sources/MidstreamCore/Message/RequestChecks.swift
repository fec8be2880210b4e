extension HTTPRequest {
    /// Refuses requests that can't or mustn't go on the wire.
    ///
    /// - Parameter hasCheckedURL: Whether the URL is one that ``URLText/resolve(_:base:query:)`` has made.
    /// - Throws: ``HTTPError/Code/invalidRequest``, ``HTTPError/Code/bodyUnreadable`` or ``HTTPError/Code/bodyNotReplayable``; nothing has
    ///   been sent.
    package func checkSendable(hasCheckedURL: Bool = false) throws {
        try checkMeaning()
        guard hasCheckedURL || URLText.isRequestable(urlText) else {
            // For the reason.
            _ = try URLText.resolve(urlText, base: nil, query: nil)
            throw refusal("The URL holds a space or a character outside of ASCII that isn't percent-encoded.")
        }
        guard method.rawValue.isToken else { throw refusal("The method \(method.rawValue.debugDescription) is no token.") }
        // It asks for a tunnel, not for a resource.
        guard method.rawValue != "CONNECT" else { throw refusal("The method CONNECT can't be sent.") }
        if let name = headers.refused.first {
            throw refusal(
                "The header \(name.rawValue.debugDescription) can't be sent: its name is no token or its value has a line break.")
        }
        if let type = body.contentType, type.utf8.contains(where: { $0 == 13 || $0 == 10 || $0 == 0 }) {
            throw refusal("The body's media type holds a line end.")
        }
        try checkFraming()
        if body.isSpent {
            throw HTTPError(
                .bodyNotReplayable, "The request would have to be sent again, and its body can be read only once.",
                request: self, phase: .notSent)
        }
    }

    /// Framing is the transport's: contradictions are how requests are smuggled (RFC 9112 §11.2).
    private func checkFraming() throws {
        if method == .head || method == .trace, body.bytes?.isEmpty != true {
            throw refusal("A \(method) request can't have a body.")
        }
        if let text = headers[.contentLength] {
            // Only a recipient may make one number of a list.
            guard !text.utf8.contains(UInt8(ascii: ",")), let length = HTTPHeaders.contentLength(text) else {
                throw refusal("Content-Length is no number.")
            }
            if let known = body.length, known != length { throw refusal("Content-Length isn't the length of the body.") }
        }
        if let coding = headers[.transferEncoding], !coding.equalsIgnoringASCIICase("chunked") {
            throw refusal("Transfer-Encoding can't be anything but chunked.")
        }
    }

    private func refusal(_ message: String) -> HTTPError {
        HTTPError(.invalidRequest, message, request: self, phase: .notSent)
    }
}

extension HTTPHeaders {
    /// The number of a `Content-Length`: digits and nothing else (RFC 9110 §8.6), or a list that repeats one number
    /// (RFC 9112 §6.3). Nil for any other text.
    package static func contentLength(_ text: String) -> Int64? {
        text[...].withBytes { contentLength($0) }
    }

    private static func contentLength(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        var length: Int64?
        var start = 0
        while start <= text.count {
            let end = text[start...].firstIndex(of: UInt8(ascii: ",")) ?? text.count
            guard let number = number(text[start..<end].trimmed), length == nil || length == number else { return nil }
            length = number
            start = end + 1
        }
        return length
    }

    private static func number(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> Int64? {
        var number: Int64 = 0
        for digit in digits {
            let (tens, isLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, isLarger) = tens.addingReportingOverflow(Int64(digit) - 48)
            guard 48...57 ~= digit, !isLarge, !isLarger else { return nil }
            number = sum
        }
        return digits.isEmpty ? nil : number
    }
}
