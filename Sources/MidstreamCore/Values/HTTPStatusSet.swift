/// A set of statuses, made of single codes and ranges of codes: `[200, 404]`, `200..<300`, `.serverError`.
public struct HTTPStatusSet: ExpressibleByArrayLiteral, Hashable, Sendable, CustomStringConvertible {
    /// Ascending, with at least one code between any two, so that equal sets are equal values.
    private let ranges: [ClosedRange<Int>]

    private init(joining ranges: [ClosedRange<Int>]) {
        var joined: [ClosedRange<Int>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = joined.last, last.upperBound >= range.lowerBound || last.upperBound + 1 == range.lowerBound {
                joined[joined.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                joined.append(range)
            }
        }
        self.ranges = joined
    }

    /// The listed statuses.
    public init(arrayLiteral elements: HTTPStatus...) { self.init(elements) }

    /// The listed statuses.
    public init(_ statuses: some Sequence<HTTPStatus>) {
        self.init(joining: statuses.map { $0.code...$0.code })
    }

    /// All codes of a range, such as `200..<300`.
    public init(_ range: Range<Int>) { self.init(joining: range.isEmpty ? [] : [ClosedRange(range)]) }

    /// All codes of a range, such as `200...299`.
    public init(_ range: ClosedRange<Int>) { self.init(joining: [range]) }

    /// 200..<300.
    public static let success = HTTPStatusSet(200..<300)
    /// 200..<400.
    public static let successAndRedirect = HTTPStatusSet(200..<400)
    /// 400..<500.
    public static let clientError = HTTPStatusSet(400..<500)
    /// 500..<600.
    public static let serverError = HTTPStatusSet(500..<600)
    /// Every status, so that each is an answer: `request.acceptableStatus = .all`.
    public static let all = HTTPStatusSet(100..<1_000)

    /// Whether nothing is in the set.
    public var isEmpty: Bool { ranges.isEmpty }

    /// Whether `status` is in the set.
    public func contains(_ status: HTTPStatus) -> Bool {
        ranges.contains { $0.contains(status.code) }
    }

    /// The statuses of both sets.
    public func union(_ other: HTTPStatusSet) -> HTTPStatusSet { HTTPStatusSet(joining: ranges + other.ranges) }

    /// The codes and ranges, such as `200–299, 304`.
    public var description: String {
        ranges.map { $0.lowerBound == $0.upperBound ? "\($0.lowerBound)" : "\($0.lowerBound)–\($0.upperBound)" }
            .joined(separator: ", ")
    }
}

/// Ranges as sets. Of two literals they are preferred only where a set is wanted: `0..<3` stays a `Range<Int>`.
extension HTTPStatus {
    /// The statuses from one up to another, which isn't among them; none when that isn't the larger one.
    @_disfavoredOverload
    public static func ..< (first: HTTPStatus, end: HTTPStatus) -> HTTPStatusSet {
        HTTPStatusSet(first.code..<max(first.code, end.code))
    }

    /// The statuses from one to another, none when that is the smaller one.
    @_disfavoredOverload
    public static func ... (first: HTTPStatus, last: HTTPStatus) -> HTTPStatusSet {
        first <= last ? HTTPStatusSet(first.code...last.code) : HTTPStatusSet([])
    }
}
