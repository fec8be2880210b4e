import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

/// RFC 9110 §7.8.
@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct UpgradeTests {
    @Test(arguments: TransportUnderTest.allCases)
    func aConnectionIsHandedOver(transport: TransportUnderTest) async throws {
        try await needing(.upgrade, of: transport) {
            let server = try MockServer()
            defer { server.shutdown() }
            server.respond { _ in .webSocket { try await $0.send("first") } }
            let request = HTTPRequest(server.url(), headers: ["Connection": "Upgrade", "Upgrade": "websocket"])
            let response = try await transport.client().stream(request)
            #expect(response.status == 101)
            let channel = try #require(response.channel)
            var bytes: [UInt8] = []
            while let more = try await channel.read() { bytes += more }
            #expect(bytes == [0x81, 5] + Array("first".utf8))
        }
    }

    /// What isn't agreed to is a response as any other.
    @Test(arguments: TransportUnderTest.allCases)
    func aRefusedUpgradeIsAResponse(transport: TransportUnderTest) async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(status: .ok, body: "no"))
        let request = HTTPRequest(server.url(), headers: ["Connection": "Upgrade", "Upgrade": "other"])
        let response = try await transport.client().send(request)
        #expect(response.status == .ok && response.body.text == "no")
    }
}
