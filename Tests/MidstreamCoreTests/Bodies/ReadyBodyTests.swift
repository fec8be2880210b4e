import Interception
import MidstreamCore
import TestSupport
import Testing

@Suite("Bodies that have arrived before anybody reads them")
struct ReadyBodyTests {
    private func response(_ body: HTTPBody) -> HTTPResponse {
        HTTPResponse(status: 200, body: body, request: HTTPRequest("http://a.test/"))
    }

    @Test("What has arrived is taken into memory, with what is known at its end", arguments: [[1, 2, 3], []] as [[UInt8]])
    func arrived(bytes: [UInt8]) {
        var response = response(.incoming(ArrivedBody(bytes)))
        #expect(response.trailers == nil && response.metrics == nil)
        #expect(response.takeWhole() == bytes)
        #expect(response.body.bytes == bytes && response.trailers == ["X-Trailer": "end"] && response.metrics != nil)
    }

    @Test("Whoever observes what is taken is told of it as of what is read", arguments: [[1, 2, 3], []] as [[UInt8]])
    func observed(bytes: [UInt8]) {
        let (told, ends) = (Locked<[[UInt8]]>([]), Locked<[HTTPBody.End]>([]))
        let body = HTTPBody.incoming(ArrivedBody(bytes)).observed { chunk in
            told.withLock { $0.append(chunk) }
        } onEnd: { end in
            ends.withLock { $0.append(end) }
        }
        var response = response(body)
        #expect(response.takeWhole() == bytes)
        #expect(response.body.bytes == bytes && response.trailers == ["X-Trailer": "end"] && response.metrics != nil)
        #expect(told.withLock { $0 } == (bytes.isEmpty ? [] : [bytes]))
        guard case .complete(let trailers, let metrics)? = ends.withLock({ $0.first }) else {
            Issue.record("The end isn't told.")
            return
        }
        #expect(trailers == ["X-Trailer": "end"] && metrics != nil && ends.withLock { $0.count } == 1)
    }

    @Test("What is in memory stays there")
    func inMemory() {
        var response = response("abc")
        #expect(response.takeWhole() == Array("abc".utf8))
        #expect(response.body.text == "abc" && response.body.contentType != nil)
    }

    @Test("What is still to come, or has been begun, stays as it is")
    func arriving() async throws {
        var late = response(.incoming(ArrivedBody([1, 2, 3], isLate: true)))
        #expect(late.takeWhole() == nil)
        #expect(try await late.body.collect() == [1, 2, 3])
        let isTold = Locked(false)
        let observed = HTTPBody.incoming(ArrivedBody([1, 2, 3], isLate: true)).observed { _ in
        } onEnd: { _ in
            isTold.withLock { $0 = true }
        }
        var watched = response(observed)
        #expect(watched.takeWhole() == nil && !isTold.withLock { $0 })
        #expect(try await watched.body.collect() == [1, 2, 3])
        var unknowing = response(.incoming(ArrivingBody([[1, 2, 3]])))
        #expect(unknowing.takeWhole() == nil && unknowing.body.bytes == nil)
    }
}
