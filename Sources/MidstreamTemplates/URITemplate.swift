public import MidstreamCore

/// A template of URIs, such as `users/{id}/posts{?page,tag*}` (RFC 6570, all four levels).
///
/// ```swift
/// let posts: URITemplate = "users/{id}/posts{?page,tag*}"
/// let page = try await client.get(posts.expanded(["id": id, "page": 2, "tag": ["swift", "linux"]])).value(Page.self)
/// let user = try await client.get(.template("users/{id}", ["id": id])).value(User.self)
/// ```
///
/// Requests that are made of it know the template's text as their ``HTTPRequest/route``.
///
/// A text that is no template, or a value that can't stand where it is used, makes sending the request fail with
/// ``HTTPError/Code/invalidRequest``; ``expand(_:)`` throws it at once.
public struct URITemplate: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The template's text.
    public let text: String
    private let parts: Result<[TemplatePart], TemplateProblem>

    /// Takes a text; what is wrong with it is told when it is expanded.
    public init(_ text: String) {
        self.text = text
        parts = Result { () throws(TemplateProblem) in try TemplateParser.parts(of: text) }
    }

    /// Takes a text, as ``init(_:)`` does.
    public init(stringLiteral value: String) { self.init(value) }

    /// The names of the variables, in the order in which they stand, repeated ones once.
    public var variables: [String] {
        var seen: Set<String> = []
        return ((try? parts.get()) ?? []).flatMap(\.names).filter { seen.insert($0).inserted }
    }

    /// The text with the values in place of the expressions.
    ///
    /// - Parameter values: By the names of the variables. One that is nil or isn't there is undefined, as are an empty list and an empty
    ///   dictionary: what it stands for is left out (RFC 6570 §2.3).
    /// - Throws: ``HTTPError/Code/invalidRequest`` when the text is no template, or asks for the beginning of a list; when a value, or the
    ///   lack of one, makes `.` or `..` of a segment of the path, which would lead elsewhere.
    public func expand(_ values: [String: (any URITemplateValue)?]) throws -> String {
        do {
            return try expansion(values)
        } catch {
            throw HTTPError(.invalidRequest, error.message(about: text), phase: .notSent)
        }
    }

    /// The URL that the values make of the template, for a request.
    ///
    /// - Parameter values: As in ``expand(_:)``.
    public func expanded(_ values: [String: (any URITemplateValue)?]) -> RequestURL {
        do {
            return RequestURL(try expansion(values), route: text)
        } catch {
            return RequestURL(text, route: text, problem: error.message(about: text))
        }
    }

    private func expansion(_ values: [String: (any URITemplateValue)?]) throws(TemplateProblem) -> String {
        let parts = try parts.get()
        var contents: [String: URITemplateContent] = [:]
        for (name, value) in values { contents[name] = value?.uriTemplateContent }
        var expansion = ""
        var values: [Range<Int>] = []
        for part in parts {
            let piece = try part.expansion(contents)
            // What is empty or undefined, too, may be what makes a step of the dots around it, but for segments, a query or a fragment that aren't
            // there. The segment before a slash has nothing to do with the value.
            if case .expression(let form, _) = part, piece != nil || !["/", "?", "#"].contains(form.first) {
                let start = expansion.utf8.count + (form.first == "/" ? 1 : 0)
                values.append(start..<expansion.utf8.count + (piece?.utf8.count ?? 0))
            }
            expansion += piece ?? ""
        }
        if let step = URLText.step(madeBy: values, in: expansion) { throw .step(step) }
        return expansion
    }

    /// Whether the texts are the same.
    public static func == (a: URITemplate, b: URITemplate) -> Bool { a.text == b.text }

    /// By the text.
    public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension URITemplate: CustomStringConvertible {
    /// The text.
    public var description: String { text }
}

extension RequestURL {
    /// A URL by a template; see ``URITemplate``.
    public static func template(_ template: URITemplate, _ values: [String: (any URITemplateValue)?]) -> RequestURL {
        template.expanded(values)
    }
}
