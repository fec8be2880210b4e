extension HTTPRequest {
    /// The request as a `curl` command for a POSIX shell, and with control characters for bash or zsh, to be tried or sent to a colleague.
    ///
    /// It sends what the client would send by itself: method, target, fields and body. What interceptors and transports add isn't
    /// there; curl says who it is (`User-Agent`) and that it takes anything (`Accept`), unless the request has these fields. A body
    /// that isn't text is read from the standard input. A word with control characters is written as `$'\033'` (POSIX.1-2024), which bash and
    /// zsh read as well, so that no terminal obeys what it shows, and none loses a carriage return on the way; tabs and line feeds stay.
    ///
    /// - Parameter includingSecrets: Whether secret headers, credentials in the URL and the body are written out; false by default:
    ///   they are replaced by a mark, and the command has to be completed before it works.
    public func curlCommand(includingSecrets: Bool = false) -> String {
        curlCommand(withholding: includingSecrets ? nil : Redaction())
    }

    /// The same with secrets withheld as a redaction says, such as that of a client's configuration, which a request doesn't know.
    public func curlCommand(redaction: Redaction) -> String { curlCommand(withholding: redaction) }

    private func curlCommand(withholding redaction: Redaction?) -> String {
        var words = ["curl"]
        let bodyWords = bodyWords(withholding: redaction)
        if method == .head {
            words.append("--head")
        } else if method != .get || !bodyWords.isEmpty {
            words += ["--request", method.rawValue.shellQuoted]
        }
        for (name, value) in headers where name != .contentLength && name != .transferEncoding {
            let shown = redaction?.value(value, of: name, in: headers) ?? value
            // A field without a value has to end in a semicolon, or curl leaves it out.
            words += ["--header", (shown.isEmpty ? "\(name);" : "\(name): \(shown)").shellQuoted]
        }
        if !bodyWords.isEmpty { words += fieldsOfBody + bodyWords }
        // Relative ones are for the reader to complete.
        let url = (try? URLText.resolve(urlText, base: nil, query: nil)) ?? urlText
        // By default brackets and braces are patterns to curl, and it removes dots from paths.
        if url.utf8.contains(where: { "[]{}".utf8.contains($0) }) { words.append("--globoff") }
        if url.hasDotSegments { words.append("--path-as-is") }
        // No option, whatever it begins with.
        if url.utf8.first == UInt8(ascii: "-") { words.append("--url") }
        words.append((redaction?.url(url) ?? url).shellQuoted)
        return words.joined(separator: " ")
    }

    /// The fields about the body; those that curl would add of its own accord are taken back.
    private var fieldsOfBody: [String] {
        var words: [String] = []
        if !headers.contains(.contentType) {
            words += ["--header", (body.contentType.map { "Content-Type: \($0)" } ?? "Content-Type:").shellQuoted]
        }
        // From a megabyte on curl waits for a 100.
        if !headers.contains(.expect), body.length.map({ $0 >= 1_000_000 }) ?? true { words += ["--header", "Expect:"] }
        return words
    }

    private func bodyWords(withholding redaction: Redaction?) -> [String] {
        if method == .head { return [] }
        if let path = body.filePath { return ["--data-binary", "@\(path)".shellQuoted] }
        guard let bytes = body.bytes else { return ["--data-binary", "@-"] }
        // These have a Content-Length even without a body (RFC 9110 §8.6).
        if bytes.isEmpty { return method == .post || method == .put || method == .patch ? ["--data-raw", "''"] : [] }
        if let redaction {
            // Only there can secrets be told from the rest.
            let type = headers[.contentType] ?? body.contentType
            let form = TextForm(contentType: type)
            let shown = form == .json || form == .items ? redaction.text(bytes, contentType: type) : nil
            return ["--data-raw", (shown ?? redaction.mark).shellQuoted]
        }
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.utf8.elementsEqual(bytes), !bytes.contains(0) else {
            // A shell's words can't hold every byte, so the rest goes through the standard input.
            return ["--data-binary", "@-"]
        }
        return ["--data-raw", text.shellQuoted]
    }
}

extension String {
    /// The text as one word of a shell, and one that a terminal can show. By bytes: a quotation mark with a combining character behind it is
    /// one to the shell.
    package var shellQuoted: String {
        let isPlain =
            !isEmpty && utf8.allSatisfy { $0.isTokenCharacter && !"!#$&'*`|~^".utf8.contains($0) || "/:=,@".utf8.contains($0) }
        if isPlain { return self }
        if unicodeScalars.contains(where: { $0.isControl && $0 != "\n" }) { return shellEscaped }
        let mark = UInt8(ascii: "'")
        let parts = utf8.split(separator: mark, omittingEmptySubsequences: false).map { String(Substring($0)) }
        return "'" + parts.joined(separator: "'\\''") + "'"
    }

    /// The text as a word in which control characters are the numbers of their bytes, in octal, which every shell ends after three digits. An
    /// exclamation mark is one, too: behind an escaped quotation mark a shell may take it for a reference to its history.
    private var shellEscaped: String {
        let escaped = unicodeScalars.reduce(into: "") { text, scalar in
            guard scalar == "\\" || scalar == "'" || scalar == "!" || scalar.isControl else {
                text.unicodeScalars.append(scalar)
                return
            }
            for byte in String(scalar).utf8 { text += "\\\(String(0o1000 + Int(byte), radix: 8).dropFirst())" }
        }
        return "$'\(escaped)'"
    }

    fileprivate var hasDotSegments: Bool {
        URLText(self).path.utf8.split(separator: UInt8(ascii: "/")).contains {
            $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8)
        }
    }
}
