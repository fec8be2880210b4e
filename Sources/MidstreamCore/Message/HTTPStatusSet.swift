/// A set of statuses, made of single codes and ranges of codes.
public struct HTTPStatusSet: ExpressibleByArrayLiteral, Hashable, Sendable, CustomStringConvertible {
    private var ranges: [Range<Int>]

    /// The listed statuses.
    public init(arrayLiteral elements: HTTPStatus...) {
        ranges = elements.map { $0.code..<($0.code + 1) }
    }

    /// The listed statuses.
    public init(_ statuses: some Sequence<HTTPStatus>) {
        ranges = statuses.map { $0.code..<($0.code + 1) }
    }

    /// All codes of a range, such as `200..<300`.
    public init(_ range: Range<Int>) { ranges = [range] }

    /// All codes of a range, such as `200...299`.
    public init(_ range: ClosedRange<Int>) { ranges = [Range(range)] }

    /// 200..<300.
    public static let success = HTTPStatusSet(200..<300)
    /// 200..<400.
    public static let successAndRedirect = HTTPStatusSet(200..<400)
    /// 400..<500.
    public static let clientError = HTTPStatusSet(400..<500)
    /// 500..<600.
    public static let serverError = HTTPStatusSet(500..<600)

    /// Whether nothing is in the set.
    public var isEmpty: Bool { ranges.allSatisfy(\.isEmpty) }

    /// Whether `status` is in the set.
    public func contains(_ status: HTTPStatus) -> Bool {
        ranges.contains { $0.contains(status.code) }
    }

    /// The statuses of both sets.
    public func union(_ other: HTTPStatusSet) -> HTTPStatusSet {
        var all = self
        all.ranges += other.ranges
        return all
    }

    /// The codes and ranges, such as `200–299, 304`.
    public var description: String {
        ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)–\($0.upperBound - 1)" }.joined(separator: ", ")
    }
}
