import Testing

@testable import MidstreamCore

@Suite("Answers to alternates that came during an attempt")
struct AlternateAnswersTests {
    @Test("are let go of one after the other, since a thread's stack hasn't room for each within the one before")
    func manyAnswers() throws {
        let request = HTTPRequest("https://h/login")
        let wire = try #require(WireRequest(request))
        let response = HTTPResponse(status: .ok, request: request)
        var first: AlternateAnswers? = AlternateAnswers(number: 0)
        var last = first
        for _ in 0..<200_000 { last = last?.end(with: response, to: wire).next }
        weak var latest: AlternateAnswers?
        latest = last
        (first, last) = (nil, nil)
        #expect(first == nil && last == nil && latest == nil)
    }
}
