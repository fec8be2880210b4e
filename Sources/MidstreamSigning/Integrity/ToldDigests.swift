internal import MidstreamCore

/// The digests that a response announces, as far as they can be checked.
struct ToldDigests: Sendable {
    private struct Told: Sendable {
        let field: HTTPHeaders.Name
        let digest: ExpectedDigest
    }

    /// The fields whose digests are those of the bytes that are read.
    private let fields: [HTTPHeaders.Name]
    private let headers: HTTPHeaders
    /// Whether the body is read as it is and isn't encoded.
    private let isPlain: Bool
    private let inHead: [Told]
    private let unreadable: [HTTPHeaders.Name]
    /// Which functions are reckoned.
    private let algorithms: [DigestAlgorithm]

    /// - Parameters:
    ///   - request: As it was sent: one that asks for an encoding or for a range itself has nothing decoded by Midstream.
    ///   - isDecoded: Whether it is known all the same that the body has been decoded.
    init(_ response: HTTPResponse, askedBy request: HTTPRequest, isDecoded: Bool) {
        let headers = response.headers
        let isPartial = response.status == .partialContent
        // Some servers answer so a request for a part, which downloads take.
        let isPart = isPartial || response.status == .ok && headers.contains(.contentRange)
        let isRaw = !isDecoded && (isPartial || request.headers.contains(.acceptEncoding) || request.headers.contains(.range))
        let isEncoded = headers.members(of: .contentEncoding).contains { !$0.equalsIgnoringASCIICase("identity") }
        var fields: [HTTPHeaders.Name] = []
        if isRaw { fields.append(.contentDigest) }
        if isRaw, !isPart { fields.append(.reprDigest) }
        // Whoever decodes removes the field. What comes by a coding that nobody knows, or isn't to be undone, is read as it is.
        if !isPart, !isEncoded { fields.append(.unencodedDigest) }
        self.init(headers, fields, isPlain: isRaw && !isEncoded)
    }

    /// Those of a whole body that is going to be decoded, by its head as it came.
    init(ofEncoded headers: HTTPHeaders) { self.init(headers, [.contentDigest, .reprDigest], isPlain: false) }

    private init(_ headers: HTTPHeaders, _ fields: [HTTPHeaders.Name], isPlain: Bool) {
        self.headers = headers
        self.fields = fields
        self.isPlain = isPlain
        (inHead, unreadable) = Self.read(headers, fields)
        let known = Set(inHead.map(\.digest.algorithm))
        // Trailers may have digests by functions that the head hasn't announced.
        let mayTrail = headers.contains(.trailer) || (known.isEmpty && !headers.contains(.contentLength))
        algorithms = DigestField.algorithms.filter { mayTrail || known.contains($0) }
    }

    /// Those of the whole, when its bytes are what is read: also of a part.
    func whole(_ trailers: HTTPHeaders?) -> [ExpectedDigest] {
        guard isPlain else { return [] }
        return [headers, trailers ?? [:]].flatMap { Self.read($0, [.reprDigest, .unencodedDigest]).0.map(\.digest) }
    }

    /// Whether there is, or may yet come, anything to check.
    var mayCome: Bool { !algorithms.isEmpty }

    var note: String? {
        var parts = inHead.map { "checks \($0.field) by \($0.digest.algorithm)" }
        parts += unreadable.map { "ignored a \($0) that can't be read" }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    func check(_ bytes: [UInt8], trailers: HTTPHeaders?) throws {
        let told = inHead + (trailers.map { Self.read($0, fields).0 } ?? [])
        var actual: [DigestAlgorithm: [UInt8]] = [:]
        for told in told {
            let algorithm = told.digest.algorithm
            let digest = try actual[algorithm] ?? algorithm.digest(of: bytes)
            actual[algorithm] = digest
            try told.digest.check(digest, toldBy: "\(told.field)")
        }
    }

    /// Begins to check one reading of the body.
    func beginCheck() throws -> BodyCheck {
        let running = try algorithms.map { ($0, try Hashing($0.function)) }
        return BodyCheck { chunk in
            for (_, digest) in running { try digest.update(chunk) }
        } atEnd: { trailers in
            let actual = Dictionary(uniqueKeysWithValues: try running.map { ($0, try $1.finish()) })
            for told in inHead + (trailers.map { Self.read($0, fields).0 } ?? []) {
                if let digest = actual[told.digest.algorithm] { try told.digest.check(digest, toldBy: "\(told.field)") }
            }
        }
    }

    private static func read(_ headers: HTTPHeaders, _ fields: [HTTPHeaders.Name]) -> ([Told], [HTTPHeaders.Name]) {
        var told: [Told] = []
        var unreadable: [HTTPHeaders.Name] = []
        for field in fields {
            guard let value = headers[field] else { continue }
            let read = DigestField(value)
            told += read.digests.map { Told(field: field, digest: $0) }
            if read.isMalformed { unreadable.append(field) }
        }
        return (told, unreadable)
    }
}
