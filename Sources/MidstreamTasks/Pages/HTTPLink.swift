package import MidstreamCore

/// A link from one resource to another, as the `Link` header gives it (RFC 8288 §3).
package struct HTTPLink: Sendable, Hashable {
    /// Where it leads, as it was given: absolute or relative to the response's URL.
    package let target: String
    /// What it means, in small letters, such as `next`; the first 64, when there are more.
    package let relations: [String]
    /// What it is a link of, when that isn't the response itself.
    package let anchor: String?

    /// The links of a message, in order. What can't be read is left out, and so is what comes after 100,000.
    package static func all(in headers: HTTPHeaders) -> [HTTPLink] {
        var links: [HTTPLink] = []
        for value in headers.values(.link) { add(linksIn: value, to: &links) }
        return links
    }

    /// The URL that the first link of a relation leads to, seen from the response; nil when there is none that can be requested.
    package static func url(_ relation: String, in response: HTTPResponse) -> String? {
        let wanted = relation.lowercased()
        let link = all(in: response.headers).first { $0.relations.contains(wanted) && $0.anchor == nil }
        return link.flatMap { URLText.resolve(location: $0.target, from: response.request.urlText) }
    }
}

extension HTTPLink {
    /// More than fit into any head that a transport takes.
    private static let maximumLinks = 100_000
    /// More than any link has. A megabyte of them would be half a million strings.
    private static let maximumRelations = 64

    private static func add(linksIn value: String, to links: inout [HTTPLink]) {
        var scanner = FieldValueScanner(value)
        while !scanner.isAtEnd, links.count < maximumLinks {
            scanner.skipSpace()
            if let link = HTTPLink(&scanner) { links.append(link) } else { scanner.skip(to: ",") }
            scanner.skipSpace()
            _ = scanner.take(",")
        }
    }

    private init?(_ scanner: inout FieldValueScanner) {
        guard scanner.take("<"), let target = scanner.part(through: ">") else { return nil }
        var relations: FieldValueScanner.Part?
        var anchor: FieldValueScanner.Part?
        scanner.skipSeparators(";")
        while let parameter = scanner.parameter(takesAnything: true) {
            scanner.skipSeparators(";")
            // Of each name the first counts (RFC 8288 §3.3).
            if relations == nil, scanner.isToken(parameter.name, "rel") {
                relations = parameter.value
            } else if anchor == nil, scanner.isToken(parameter.name, "anchor") {
                anchor = parameter.value
            }
        }
        self.target = scanner.text(target)
        self.anchor = anchor.map(scanner.text)
        // The whitespace between relations is that of ASCII (RFC 8288 §3.3).
        let text = relations.map(scanner.lowercasedText) ?? ""
        self.relations = text.utf8.split(maxSplits: Self.maximumRelations) { $0 == 32 || 9...13 ~= $0 }
            .prefix(Self.maximumRelations).map { String(Substring($0)) }
    }
}
