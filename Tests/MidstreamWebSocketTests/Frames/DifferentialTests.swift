#if os(Linux)
    import Foundation
    import TestSupport
    import Testing
    import WebSocketFrames

    private let python = ProcessInfo.processInfo.environment["MIDSTREAM_PYTHON"] ?? ""

    /// The same frames to this reader and to others. `MIDSTREAM_SEARCH=whole` has a hundred thousand.
    @Suite(
        .leavesNothing, .enabled(if: !python.isEmpty, "run by Scripts/with-servers, with Scripts/python's packages"),
        .timeLimit(.minutes(30)))
    struct DifferentialTests {
        /// What a reader makes of a server's bytes.
        private struct Reading {
            /// With which it closes; 0: it goes on.
            var code = 0
            /// Messages and control frames before that, each by a letter and its bytes.
            var events: [Substring] = []
            /// Whether more is needed of a frame or a message.
            var isCut = false
            /// Why it closes, as this reader says.
            var fault = ""

            /// That of another reader.
            init(_ line: Substring) {
                let words = line.split(separator: " ")
                code = words.first.flatMap { Int($0) } ?? -1
                isCut = words.last == "~"
                events = Array(isCut ? words.dropFirst().dropLast() : words.dropFirst())
            }

            init(_ pieces: [[UInt8]]) {
                var reader = MessageReader(role: .client, messageLimit: RandomFrames.limit)
                for piece in pieces {
                    do throws(FrameViolation) {
                        try reader.take(piece) { events.append(Self.text($0)) }
                    } catch {
                        (code, fault) = (Int(error.code), error.message)
                        return
                    }
                }
                isCut = !reader.isBetweenFrames
            }

            private static func text(_ event: MessageReader.Event) -> Substring {
                let (kind, bytes) =
                    switch event {
                    case .text(let text): ("t", Array(text.utf8))
                    case .binary(let bytes): ("b", bytes)
                    case .ping(let bytes): ("i", bytes)
                    case .pong(let bytes): ("o", bytes)
                    case .close(let frame): ("c", frame.payload)
                    }
                return Substring(bytes.reduce(into: kind) { $0 += ($1 < 16 ? "0" : "") + String($1, radix: 16) })
            }

            func isLike(_ other: Reading) -> Bool { code == other.code && events == other.events }
        }

        /// Another reader, and what it does otherwise.
        private struct Other {
            let name: String
            /// Faults, by a part of their names, that it doesn't look for.
            let overlooks: [String]
            /// Whether it takes a close frame between the fragments of a message for a fault.
            let refusesCloseWithinMessages: Bool
            /// Whether control frames count against the limit of the message between whose fragments they come.
            let countsControlFrames: Bool
            /// Whether it tells of pings.
            let tellsOfPings: Bool

            /// Also what a control frame's length is called here that is written in more bytes than it takes.
            private static let longLengths = ["isn't written in as few bytes", "A control frame is longer than"]

            static let websockets = Other(
                name: "websockets", overlooks: longLengths, refusesCloseWithinMessages: true, countsControlFrames: true,
                tellsOfPings: true)
            static let curl = Other(
                name: "curl",
                overlooks: longLengths + ["A close frame has", "isn't UTF-8", "larger than"],
                refusesCloseWithinMessages: false, countsControlFrames: false, tellsOfPings: false)

            /// Why two readings differ; nil: for no reason that is known.
            func explanation(_ ours: Reading, _ theirs: Reading) -> String? {
                if refusesCloseWithinMessages, ours.code == 0, theirs.code == 1002, ours.events.dropLast() == theirs.events[...],
                    ours.events.last?.first == "c"
                {
                    return "a close frame between fragments"
                }
                if countsControlFrames, theirs.code == 1009, ours.events.starts(with: theirs.events),
                    let next = ours.events.dropFirst(theirs.events.count).first, "ioc".contains(next.prefix(1))
                {
                    return "a control frame counted as a part of the message"
                }
                if ours.code == 0, ours.isCut, theirs.code != 0, ours.events == theirs.events {
                    return "told before the head is whole"
                }
                guard ours.code != 0, theirs.events.starts(with: ours.events) else { return nil }
                if let fault = overlooks.first(where: { ours.fault.contains($0) }) { return "overlooked: \(fault)" }
                // A fault is told here at its first byte, there once the frame is whole, or the message.
                guard theirs.events[ours.events.count...].allSatisfy({ "ioc".contains($0.prefix(1)) }) else { return nil }
                if theirs.code != 0 { return "another fault is told first" }
                return theirs.isCut ? "told before the frame or the message is whole" : nil
            }
        }

        private func compare(with other: Other, _ search: Int, _ count: Int) async throws {
            var frames = RandomFrames(Search.numbers(search))
            var cases: [[UInt8]] = []
            var ours: [Reading] = []
            var file: [UInt8] = []
            for _ in 0..<count {
                let bytes = frames.next()
                cases.append(bytes)
                var reading = Reading(frames.pieces(bytes))
                if !other.tellsOfPings { reading.events.removeAll { $0.hasPrefix("i") } }
                ours.append(reading)
                file += withUnsafeBytes(of: UInt32(bytes.count).bigEndian) { Array($0) } + bytes
            }
            let folder = try TemporaryFolder()
            let path = folder.url.appendingPathComponent("cases").path
            try Data(file).write(to: URL(fileURLWithPath: path))
            let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().appendingPathComponent("Servers/frames.py").path
            let run = try await ChildProcess.run("/usr/bin/env", ["-u", "LD_LIBRARY_PATH", python, script, other.name, path])
            try #require(run.status == .exited(0), "\(run.errorText)")
            let theirs = run.text.split(separator: "\n").map(Reading.init)
            try #require(theirs.count == cases.count)
            var counts: [String: Int] = [:]
            for (place, (our, their)) in zip(ours, theirs).enumerated() where !our.isLike(their) {
                if let reason = other.explanation(our, their) {
                    counts[reason, default: 0] += 1
                } else {
                    let hex = cases[place].map { String($0, radix: 16) }.joined(separator: " ")
                    Issue.record("ours: \(our)\n\(other.name): \(their)\nof: \(hex)")
                }
            }
            let table = counts.sorted { $0.value > $1.value }.map { "\n  \($0.value): \($0.key)" }.joined()
            print("\(count) cases of frames, by \(other.name) otherwise:\(table)")
        }

        @Test func `Python's websockets reads frames alike`() async throws {
            try await compare(with: .websockets, 1, max(1_000, Search.count(of: 100_000)))
        }

        @Test func `libcurl reads frames alike`() async throws {
            try await compare(with: .curl, 2, Search.count(of: 100_000))
        }
    }
#endif
