internal import MidstreamCore

/// What a response to a request for a range means for the file that is put together.
enum RangeAnswer: Equatable {
    /// Its body is these bytes of the representation.
    case part(Range<Int64>, total: Int64?)
    /// Its body is the whole representation.
    case whole
    /// Nothing is missing.
    case complete
    /// Its body is of no use, and what there is isn't any more either.
    case startAgain(String)
    /// It contradicts itself or the request.
    case contradiction(String)

    /// The request, and what is known.
    struct Question {
        /// The first requested byte; nil: the whole.
        var start: Int64?
        /// How many bytes the representation has.
        var total: Int64?
        var validator: StrongValidator?
    }

    /// Judges a response by its head.
    init(_ response: HTTPResponse, to question: Question) {
        let headers = response.headers
        let range = headers[.contentRange].map { ContentRange($0) }
        switch (response.status.code, range) {
        case (206, _), (200, .some):
            self = question.start == nil ? Self.unasked(range ?? nil) : Self.part(range ?? nil, response, question)
        case (416, .unsatisfied(let total)?)
        where total == question.start && (question.total ?? total) == total
            && (!headers.contains(.etag) || question.validator?.holds(for: headers) == true):
            self = .complete
        case (416, _): self = .startAgain("the server has no bytes from \(question.start ?? 0) on")
        default: self = .whole
        }
    }

    /// The answer to a request for a range that has one.
    private static func part(_ range: ContentRange?, _ response: HTTPResponse, _ question: Question) -> RangeAnswer {
        guard !response.isDecodedUnseen else { return .startAgain("the system has decoded the answer") }
        guard case .bytes(let range, let total)? = range else {
            return .startAgain("the answer's Content-Range can't be read")
        }
        let (start, headers) = (question.start ?? 0, response.headers)
        if let known = question.total, let total, known != total {
            return .startAgain("the answer is of \(total) bytes, not of \(known)")
        }
        guard range.lowerBound <= start else {
            return .startAgain("the answer begins at \(range.lowerBound), behind \(start)")
        }
        guard range.upperBound > start, range.upperBound <= question.total ?? .max else {
            return .startAgain("the answer ends at \(range.upperBound), and begins at \(range.lowerBound)")
        }
        guard question.validator?.holds(for: headers) == true else { return .startAgain("the answer is of another version") }
        if let told = headers[.contentLength].flatMap({ Int64(digits: $0) }), told != range.upperBound - range.lowerBound {
            return .contradiction(
                "The answer has \(told) bytes, and its Content-Range \(range.upperBound - range.lowerBound).")
        }
        return .part(range, total: total ?? question.total)
    }

    /// The answer to a request for the whole that has a range.
    private static func unasked(_ range: ContentRange?) -> RangeAnswer {
        if case .bytes(let range, let total?)? = range, range == 0..<total { return .whole }
        return .contradiction("The whole was asked for, and a part came.")
    }
}
