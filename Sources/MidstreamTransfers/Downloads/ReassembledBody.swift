internal import MidstreamCore

/// A body that is reassembled in memory from a whole that broke off and the parts that follow it.
struct ReassembledBody {
    /// The response of which the first bytes are.
    private(set) var head: HTTPResponse
    private(set) var bytes: [UInt8] = []
    /// The response that is read, and which bytes it brings; nil: all there are.
    private var response: HTTPResponse
    private var range: Range<Int64>?
    /// The total length; nil: unknown.
    private var total: Int64?
    /// The digests of the whole that the responses name which have been read.
    private var told: [ExpectedDigest] = []
    /// Whether the server has confirmed that nothing is missing.
    private var isAtEnd = false

    private static let doNotFit = "What was made of a part's bytes needn't go on with what was made of those before."

    init(_ first: HTTPResponse) {
        (head, response, total) = (first, first, first.body.length)
    }

    private var count: Int64 { Int64(bytes.count) }

    /// Whether its bytes aren't those that the server counts.
    var isChanged: Bool { head.isDecodedUnseen || response.body.isTransformed }

    /// Whether the responses that were read are the whole.
    var isComplete: Bool { isAtEnd || (total.map { $0 == count } ?? (range == nil)) }

    /// Takes the bytes of the response, and closes it when that fails.
    ///
    /// - Parameter room: How many bytes the whole may have.
    mutating func receive(_ room: Int) async throws {
        guard !isAtEnd else { return }
        // They may stand behind the body.
        defer { told += response.representationDigests }
        do {
            var position = range?.lowerBound ?? 0
            let end = range?.upperBound ?? total ?? .max
            for try await chunk in response.body {
                if range != nil, response.body.isTransformed { throw response.violation(Self.doNotFit) }
                guard Int64(chunk.count) <= end - position else {
                    throw response.violation("More than the announced \(end) bytes came.")
                }
                let own = chunk.dropFirst(Int(max(0, count - position)))
                guard own.count <= room - bytes.count else { throw HTTPError.tooLarge(limit: room) }
                bytes += own
                position += Int64(chunk.count)
            }
            guard position == end || end == .max else { throw response.lost(at: position, of: end) }
        } catch {
            response.body.close()
            throw error
        }
    }

    /// Takes the answer to the question for the rest; false when that is of no use.
    mutating func goOn(with answer: HTTPResponse, _ validator: StrongValidator) throws -> Bool {
        let question = RangeAnswer.Question(start: count, total: total, validator: validator)
        switch RangeAnswer(answer, to: question) {
        case .part(let range, let total) where answer.headers[.contentEncoding] == head.headers[.contentEncoding]:
            (self.range, self.total, response) = (range, total, answer)
        case .complete:
            isAtEnd = true
            answer.body.close()
        // One with a Range isn't decoded, as the first answer may have been.
        case .whole where answer.status == .ok && answer.headers[.contentEncoding] == head.headers[.contentEncoding]:
            let known = validator.isTag(of: answer.headers) ? total : nil
            if let known, let other = answer.body.length, known != other {
                answer.body.close()
                throw response.violation("The server has \(other) bytes, and had \(known) with the same tag.")
            }
            self = ReassembledBody(answer)
            total = total ?? known
        case .contradiction(let message):
            answer.body.close()
            throw response.violation(message)
        default: return false
        }
        return true
    }

    /// The response with the whole body.
    ///
    /// - Throws: ``HTTPError/Code/digestMismatch`` when the bytes of several responses don't have the digest that one of them announced.
    func whole(of responses: Int) throws -> HTTPResponse {
        // A single one is checked where it is read.
        for expected in responses > 1 ? told : [] {
            try expected.check(expected.algorithm.digest(of: bytes), toldBy: "the server")
        }
        var whole = head
        (whole.trailers, whole.metrics) = (response.trailers, response.metrics)
        whole.body = .bytes(bytes)
        return whole
    }
}
