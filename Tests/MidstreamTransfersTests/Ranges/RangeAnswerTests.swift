import MidstreamCore
import Testing

@testable import MidstreamTransfers

@Suite("What an answer to a request for a range means")
struct RangeAnswerTests {
    private static let question = RangeAnswer.Question(start: 40, total: 100, validator: .eTag("\"a\""))

    private func answer(
        _ status: HTTPStatus, _ range: String?, eTag: String? = "\"a\"", length: String? = nil,
        to question: RangeAnswer.Question = question
    ) -> RangeAnswer {
        var headers = HTTPHeaders()
        headers[.contentRange] = range
        headers[.etag] = eTag
        headers[.contentLength] = length
        return RangeAnswer(HTTPResponse(status: status, headers: headers, request: HTTPRequest("http://h/")), to: question)
    }

    private func startsAgain(_ answer: RangeAnswer) -> Bool { if case .startAgain = answer { true } else { false } }
    private func contradicts(_ answer: RangeAnswer) -> Bool { if case .contradiction = answer { true } else { false } }

    @Test("A part of the same version, from where it was asked for or before")
    func part() {
        for status in [206, 200] as [HTTPStatus] {
            #expect(answer(status, "bytes 40-99/100") == .part(40..<100, total: 100))
            #expect(answer(status, "bytes 40-99/100", length: "60") == .part(40..<100, total: 100))
            #expect(answer(status, "bytes 0-99/100") == .part(0..<100, total: 100))
            #expect(answer(status, "bytes 39-40/100") == .part(39..<41, total: 100))
            #expect(answer(status, "bytes 40-99/*") == .part(40..<100, total: 100))
        }
        var unknown = Self.question
        unknown.total = nil
        #expect(answer(206, "bytes 40-99/100", to: unknown) == .part(40..<100, total: 100))
        #expect(answer(206, "bytes 40-99/*", to: unknown) == .part(40..<100, total: nil))
    }

    @Test("Any other range starts again")
    func otherRanges() {
        for status in [206, 200] as [HTTPStatus] {
            for range in [
                "nonsense", "bytes */100", "bytes 41-99/100", "bytes 40-99/101", "bytes 40-98/99", "bytes 0-39/100",
                "bytes 40-100/*",
                "bytes 40-99/100, bytes 40-99/100",
            ] {
                #expect(startsAgain(answer(status, range)), "\(range)")
            }
            #expect(startsAgain(answer(status, "bytes 40-99/100", eTag: "\"b\"")))
            #expect(startsAgain(answer(status, "bytes 40-99/100", eTag: "W/\"a\"")))
            #expect(startsAgain(answer(status, "bytes 40-99/100", eTag: nil)))
        }
        #expect(startsAgain(answer(206, nil)))
    }

    @Test("A length that isn't the range's is a contradiction, with both numbers")
    func lengths() {
        let answer = answer(206, "bytes 40-99/100", length: "61")
        #expect(answer == .contradiction("The answer has 61 bytes, and its Content-Range 60."))
    }

    @Test("A whole")
    func whole() {
        #expect(answer(200, nil) == .whole)
        #expect(answer(200, nil, eTag: "\"b\"") == .whole)
        #expect(answer(203, nil) == .whole)
        let plain = RangeAnswer.Question()
        #expect(answer(200, nil, to: plain) == .whole)
        #expect(answer(200, "bytes 0-99/100", to: plain) == .whole)
        #expect(answer(206, "bytes 0-99/100", to: plain) == .whole)
        for range in ["bytes 0-98/100", "bytes 1-99/100", "bytes 0-99/*", "x"] {
            #expect(contradicts(answer(206, range, to: plain)))
            #expect(contradicts(answer(200, range, to: plain)))
        }
        #expect(contradicts(answer(206, nil, to: plain)))
    }

    @Test("416: nothing is missing, or all of it")
    func unsatisfiable() {
        var question = Self.question
        question.start = 100
        #expect(answer(416, "bytes */100", to: question) == .complete)
        #expect(answer(416, "bytes */100", eTag: nil, to: question) == .complete)
        #expect(startsAgain(answer(416, "bytes */100", eTag: "\"b\"", to: question)))
        for range in [nil, "x", "bytes */99", "bytes */101", "bytes 0-99/100"] {
            #expect(startsAgain(answer(416, range, to: question)))
        }
        question.total = nil
        #expect(answer(416, "bytes */100", to: question) == .complete)
    }
}
