internal import Interception

/// A function that makes a short digest of bytes, by which it shows when they have changed.
///
/// `.sha256` and `.sha512` come with the module `MidstreamSigning`, since they need the system's cryptographic library.
public struct DigestAlgorithm: Sendable, Hashable, CustomStringConvertible {
    /// Its key in the fields of RFC 9530, such as `sha-256`.
    public let name: String
    /// How many bytes a digest has.
    public let length: Int
    /// Begins a digest.
    package let begin: @Sendable () throws -> any RunningDigest

    package init(name: String, length: Int, begin: @escaping @Sendable () throws -> any RunningDigest) {
        self.name = name
        self.length = length
        self.begin = begin
    }

    /// The name.
    public var description: String { name }

    /// Compares names.
    public static func == (a: DigestAlgorithm, b: DigestAlgorithm) -> Bool { a.name == b.name }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// The digest of bytes in memory.
    package func digest(of bytes: [UInt8]) throws -> [UInt8] {
        let running = try begin()
        try running.update(bytes)
        return try running.finish()
    }
}

/// A digest that is being made from pieces, by one task at a time.
package protocol RunningDigest: AnyObject {
    /// Takes the next piece.
    func update(_ bytes: [UInt8]) throws
    /// The digest of all pieces; none can follow.
    func finish() throws -> [UInt8]
}

/// What the digest of a body has to be.
///
/// With the module `MidstreamSigning` there are `.sha256(_:)` and `.sha512(_:)`.
public struct ExpectedDigest: Sendable, Hashable {
    /// The function.
    public let algorithm: DigestAlgorithm
    /// The digest.
    public let value: [UInt8]

    /// Expects a digest.
    public init(_ algorithm: DigestAlgorithm, _ value: [UInt8]) {
        self.algorithm = algorithm
        self.value = value
    }

    /// Expects a digest that is written in hexadecimal digits, as `sha256sum` prints it.
    ///
    /// - Throws: ``HTTPError/Code/invalidRequest`` when the text is no digest of this function.
    public init(_ algorithm: DigestAlgorithm, hexadecimal text: String) throws {
        let digits = text.utf8.compactMap(\.hexadecimalValue)
        guard digits.count == text.utf8.count, digits.count == 2 * algorithm.length else {
            throw HTTPError(
                .invalidRequest, "A digest by \(algorithm) has \(2 * algorithm.length) hexadecimal digits.", phase: .notSent)
        }
        self.init(algorithm, stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
    }

    /// Does nothing if this is the digest that was expected.
    ///
    /// - Parameter source: Who expects it.
    package func check(_ actual: [UInt8], toldBy source: String) throws {
        guard actual != value else { return }
        throw HTTPError(
            .digestMismatch, "The digest of the body by \(algorithm) is \(actual.digits); \(source) says \(value.digits).",
            phase: .answered)
    }
}

extension HTTPError.Code {
    /// A body isn't the one that a digest was given for.
    public static let digestMismatch = Self(rawValue: "digestMismatch")
}

/// What responses to the requests of a call have said of the digest of one representation, of which each may bring a part.
package final class RepresentationDigests: Sendable {
    private let told = Locked<[ExpectedDigest]>([])

    package init() {}

    package var all: [ExpectedDigest] { told.withLock { $0 } }

    package func tell(_ digest: ExpectedDigest) { told.withLock { if !$0.contains(digest) { $0.append(digest) } } }

    /// Makes room for those of another representation.
    package func forget() { told.withLock { $0 = [] } }
}

private enum RepresentationDigestsKey: RequestContextKey {
    static var defaultValue: RepresentationDigests? { nil }
}

extension HTTPRequest {
    /// Who wants to be told the digest of the whole when parts of it come.
    package var representationDigests: RepresentationDigests? {
        get { context[RepresentationDigestsKey.self] }
        set { context[RepresentationDigestsKey.self] = newValue }
    }
}

extension HTTPBody {
    /// The same body, which fails with ``HTTPError/Code/digestMismatch`` in place of its end when its digest is another. What is in
    /// memory is checked at once.
    ///
    /// - Throws: When it is in memory and another; when the algorithm can't be used.
    package func checked(against expected: ExpectedDigest) throws -> HTTPBody {
        if let bytes {
            try expected.check(expected.algorithm.digest(of: bytes), toldBy: "who asked for it")
            return self
        }
        // Asked now, since a reading that begins has nobody to tell.
        _ = try expected.algorithm.begin()
        return checked {
            let running = try expected.algorithm.begin()
            return BodyCheck {
                try running.update($0)
            } atEnd: { _ in
                try expected.check(running.finish(), toldBy: "who asked for it")
            }
        }
    }
}

extension [UInt8] {
    /// The bytes in hexadecimal digits.
    fileprivate var digits: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
