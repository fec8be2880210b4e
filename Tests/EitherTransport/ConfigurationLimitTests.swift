#if os(Linux)
    import Foundation
    import MidstreamCore
    import MidstreamLoop
    import MidstreamTransport
    import TestSupport
    import Testing

    /// Numbers at both ends of what they can be: nothing traps.
    @Suite(.leavesNothing, .timeLimit(.minutes(10))) struct ConfigurationLimitTests {
        private static let durations: [Duration] = [
            .zero, .seconds(-1), .seconds(Int64.min), .nanoseconds(1), .seconds(Int64.max), .seconds(Int64.max) * 2,
            Duration(secondsComponent: Int64.min, attosecondsComponent: 0),
        ]

        @Test(arguments: durations) func `Durations`(_ duration: Duration) async throws {
            let server = try RawServer.ok()
            let settings: [(inout TransportConfiguration) -> Void] = [
                { $0.connectTimeout = duration }, { $0.headTimeout = duration }, { $0.idleTimeout = duration },
                { $0.idleConnectionLifetime = duration }, { $0.maximumConnectionAge = duration },
            ]
            for set in settings {
                var configuration = TransportConfiguration()
                set(&configuration)
                let transport = testedTransport(configuration: configuration)
                for options in [
                    ExchangeOptions(delivery: .streamed), ExchangeOptions(delivery: .buffered(upTo: 10), timeLimit: duration),
                    ExchangeOptions(delivery: .buffered(upTo: 10)),
                ] {
                    // Whether it succeeds depends on the limit.
                    let response = try? await transport.send(HTTPRequest(server.url), options)
                    _ = try? await response?.body.collect()
                    if duration > .seconds(1), options.timeLimit == nil { #expect(response?.status == 200) }
                }
            }
        }

        @Test(arguments: [Int.min, -1, 0, 1, Int.max]) func `Counts`(_ count: Int) async throws {
            let server = try RawServer.ok()
            let settings: [(inout TransportConfiguration) -> Void] = [
                { $0.maximumConnections = count }, { $0.maximumConnectionsPerHost = count }, { $0.eventLoops = min(count, 2) },
                { $0.maximumDecodedRatio = count },
            ]
            #expect(1...64 ~= LoopShare.count(TransportConfiguration(eventLoops: count)))
            for set in settings {
                var configuration = TransportConfiguration()
                set(&configuration)
                let transport = testedTransport(configuration: configuration)
                for _ in 0..<2 { #expect(try await transport.deliver(request(server.url, .buffered(upTo: 10))).status == 200) }
            }
            _ = try? await testedTransport().deliver(request(server.url, .buffered(upTo: count)))
        }
    }
#endif
