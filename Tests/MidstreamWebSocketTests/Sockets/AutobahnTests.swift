#if os(Linux)
    import Foundation
    import MidstreamCore
    import MidstreamWebSocket
    import MidstreamWire
    import TestSupport
    import Testing

    private let server = ProcessInfo.processInfo.environment["MIDSTREAM_AUTOBAHN"] ?? ""

    /// The cases of the Autobahn test suite: its server breaks rules, and the client sends back whatever it gets.
    @Suite(.leavesNothing, .enabled(if: !server.isEmpty, "run by Scripts/check autobahn"), .timeLimit(.minutes(120)))
    struct AutobahnTests {
        private struct Case: Decodable {
            let id: String
            let description: String
        }

        private struct Verdict: Decodable {
            let behavior: String
            let behaviorClose: String
            let result: String
            let resultClose: String
            let remoteCloseCode: Int?
            /// In milliseconds.
            let duration: Int

            var isGood: Bool {
                ["OK", "NON-STRICT", "INFORMATIONAL"].contains(behavior) && ["OK", "INFORMATIONAL"].contains(behaviorClose)
            }
        }

        /// Of the cases whose names begin alike.
        private struct Tally {
            var verdicts: [String: Int] = [:]
            var milliseconds = 0
        }

        private let client = testClient(transport: wireTransport())

        @Test func `The suite is content with every case`() async throws {
            let count = try await ask("getCaseCount", for: Int.self)
            #expect(count > 0)
            var tallies: [Int: Tally] = [:]
            for number in 1...max(count, 1) {
                let name = try await ask("getCaseInfo?case=\(number)", for: Case.self)
                await run(number)
                let verdict = try await ask("getCaseStatus?case=\(number)&agent=midstream", for: Verdict.self)
                #expect(verdict.isGood, "\(name.id): \(name.description) \(verdict)")
                let group = name.id.split(separator: ".").first.flatMap { Int($0) } ?? 0
                tallies[group, default: Tally()].verdicts[verdict.behavior, default: 0] += 1
                tallies[group, default: Tally()].milliseconds += verdict.duration
            }
            for (group, tally) in tallies.sorted(by: { $0.key < $1.key }) {
                let verdicts = tally.verdicts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
                print("Autobahn \(group).*: \(verdicts), in \(tally.milliseconds / 1_000) s")
            }
        }

        /// Sends back what comes until the socket ends, in whichever way.
        private func run(_ number: Int) async {
            let task = client.webSocket("\(raw: server)/runCase?case=\(number)&agent=midstream") { $0.compression = .offered }
            do {
                let socket = try await task.connect()
                for try await message in socket { try await socket.send(message) }
            } catch {
                // Most cases break the rules; whether the end was right is the suite's to say.
            }
        }

        private func ask<Answer: Decodable & Sendable>(_ path: String, for type: Answer.Type) async throws -> Answer {
            let socket = try await client.webSocket("\(raw: server)/\(raw: path)").connect()
            var answers = socket.values(type).makeAsyncIterator()
            return try #require(try await answers.next())
        }
    }
#endif
