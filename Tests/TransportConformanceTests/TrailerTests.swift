import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct TrailerTests {
    @Test(arguments: TransportUnderTest.allCases, Delivery.allCases)
    func fieldsAfterTheBodyAreTold(transport: TransportUnderTest, delivery: Delivery) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        var trailers: HTTPHeaders = ["X-Checksum": "abc", "X-Empty": ""]
        trailers.add("X-Many", "1")
        trailers.add("X-Many", "2")
        server.enqueue(.init(headers: ["X-Head": "1"], body: "hello", trailers: trailers), .init(body: "none"))
        let client = transport.client()
        try await needing(.trailers, of: transport) {
            let received = try await delivery.send(HTTPRequest(server.url()), by: client)
            #expect(received.text == "hello")
            let told = try #require(received.response.trailers)
            #expect(told["X-Checksum"] == "abc")
            #expect(told.values("X-Empty") == [""])
            #expect(told.values("X-Many") == ["1", "2"])
            #expect(!received.headers.contains("X-Checksum"), "A field after the body is none of the head.")
            #expect(try await delivery.send(HTTPRequest(server.url()), by: client).response.trailers == nil)
            #expect(server.connectionCount == 1)
        }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func trailersAreNotKnownBeforeTheEnd(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        let mayEnd = Event()
        let isFirst = FirstTime()
        let chunks = AsyncStream<[UInt8]> {
            if isFirst.take() { return [UInt8]("hello") }
            await mayEnd.wait()
            return nil
        }
        server.enqueue(.init(body: .once(chunks), trailers: ["X-Late": "yes"]))
        try await needing(.trailers, of: transport) {
            let response = try await transport.client().stream(HTTPRequest(server.url()))
            #expect(response.trailers == nil)
            mayEnd.happen()
            #expect(try await response.body.collect() == [UInt8]("hello"))
            #expect(response.trailers?["X-Late"] == "yes")
        }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func thoseOfARequestAreLeftOutBehindAKnownLength(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init())
        var request = HTTPRequest(.post, server.url(), body: .text("hello"))
        request.trailers = { ["X-Checksum": "abc"] }
        #expect(try await transport.client().send(request).status == 200)
        let received = try await server.takeRequest()
        #expect(received.text == "hello" && received.trailers == nil)
    }
}
