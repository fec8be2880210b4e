/// What an interceptor would do to a request (``HTTPInterceptor/plan(_:)``). The texts are for people and may change at any time.
public enum RequestPlan: Sendable, Hashable {
    /// The request goes on exactly as the plan leaves it.
    ///
    /// The text, if any, describes what else is done, such as “writes a line about it”.
    case known(String? = nil)
    /// The request that goes on can't be known beforehand. The text describes why, such as “would fetch a token”.
    case unknown(String)
    /// The interceptor answers, and nothing goes on. The text describes the answer, such as “fresh for 42 s, would answer from memory”.
    case answers(String)

    /// The text; nil: none.
    public var text: String? {
        switch self {
        case .known(let text): text
        case .unknown(let text), .answers(let text): text
        }
    }

    /// The plan of an interceptor that has none.
    package static var missing: Self { .unknown("not run: it has no plan") }

    /// Whether the request goes on as the plan leaves it.
    package var isKnown: Bool {
        if case .known = self { true } else { false }
    }

    /// This plan and the one of an interceptor further in.
    func followed(by next: Self, of name: String) -> Self {
        let texts = [text, next.text.map { "\(name): \($0)" }].compactMap { $0 }
        let joined = texts.joined(separator: "; ")
        return switch next {
        case .answers: .answers(joined)
        case .known where isKnown: .known(texts.isEmpty ? nil : joined)
        case .known, .unknown: .unknown(joined)
        }
    }
}
