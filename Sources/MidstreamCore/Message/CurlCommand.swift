extension HTTPRequest {
    /// The request as a `curl` command for a POSIX shell, to be tried or sent to a colleague.
    ///
    /// - Parameter includingSecrets: Whether secret headers, credentials in the URL and the body are written out; false by default:
    ///   they are replaced by a mark, and the command has to be completed before it works.
    public func curlCommand(includingSecrets: Bool = false) -> String {
        var words = ["curl"]
        if method == .head {
            words.append("--head")
        } else if method != .get || body.length != 0 {
            words += ["--request", method.rawValue.shellQuoted]
        }
        for (name, value) in headers {
            let shown = includingSecrets ? value : headers.shown(value, of: name)
            // A field without a value has to end in a semicolon, or curl leaves it out.
            words += ["--header", (shown.isEmpty ? "\(name);" : "\(name): \(shown)").shellQuoted]
        }
        if let type = body.contentType, !headers.contains(.contentType) {
            words += ["--header", "Content-Type: \(type)".shellQuoted]
        }
        words += bodyWords(includingSecrets: includingSecrets)
        // Brackets and braces are patterns to curl unless it is told otherwise.
        if urlText.utf8.contains(where: { "[]{}".utf8.contains($0) }) { words.append("--globoff") }
        words.append((includingSecrets ? urlText : redactedURL).shellQuoted)
        return words.joined(separator: " ")
    }

    private func bodyWords(includingSecrets: Bool) -> [String] {
        if let path = body.filePath { return ["--data-binary", "@\(path)".shellQuoted] }
        guard let bytes = body.bytes else { return ["--data-binary", "@-"] }
        guard !bytes.isEmpty else { return [] }
        guard includingSecrets else { return ["--data-binary", HTTPHeaders.withheld.shellQuoted] }
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.utf8.elementsEqual(bytes), !bytes.contains(0) else {
            // A shell's words can't hold every byte, so the rest goes through the standard input.
            return ["--data-binary", "@-"]
        }
        return ["--data-raw", text.shellQuoted]
    }
}

extension String {
    fileprivate var shellQuoted: String {
        let isPlain =
            !isEmpty && utf8.allSatisfy { $0.isTokenCharacter && !"!#$&'*`|~^".utf8.contains($0) || "/:=,@".utf8.contains($0) }
        return isPlain ? self : "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
