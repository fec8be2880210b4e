#if os(Linux) || os(macOS)
    import Foundation
    import TestSupport
    import Testing

    /// Compiles wrong calls and looks at what the compiler says.
    @Suite(.enabled(if: Compiler.canImportTheModules)) struct MisuseTests {
        /// A wrong call, and the member that the error is about.
        private static let calls = [
            ("let _: User = try await client.get(\"a\").result()", "result()", "value(T.self)"),
            ("let _: User = try await client.get(\"a\").extractPayload().result()", "result()", "decode(T.self)"),
            ("let _: AnyRequestTask<User> = client.get(\"a\").decode(User.self)", "decode", "extractPayload()"),
            ("_ = client.get(\"a\").decode(User.self).decode(User.self)", "decode", "right behind the request"),
            ("_ = client.get(\"a\").decode(User.self).keyPath(\\.a)", "keyPath", "before decode"),
            (
                "_ = client.get(\"a\").extractPayload().decode(User.self).onStatusCode(404) { }", "onStatusCode",
                "before extractPayload"
            ),
            (
                "_ = client.get(\"a\").map { $0.head }.acceptOnlyStatusCode([.ok])", "acceptOnlyStatusCode",
                "before extractPayload"
            ),
            ("_ = client.get(\"a\").extractPayload().extractPayload()", "extractPayload()", "Leave extractPayload out"),
            ("_ = client.get(\"a\").collectData()", "collectData()", "streamed()"),
            ("_ = client.get(\"a\").decode(User.self).header(\"a\", \"b\")", "header", "before the first modifier"),
            ("_ = try await client.get(\"a\").decode(User.self).value(User.self)", "value", "extractPayload().result()"),
        ]

        @Test func theCompilerNamesTheRemedy() async throws {
            let functions = Self.calls.enumerated().map { "func f\($0)(_ client: HTTPClient) async throws { \($1.0) }" }
            let source = """
                import Foundation
                import MidstreamCore
                struct User: Decodable, Sendable {}

                """
            let errors = try await Compiler.errors(in: source + functions.joined(separator: "\n"))
            for (place, (call, member, remedy)) in Self.calls.enumerated() {
                let error = errors[place + 4, default: []].joined(separator: "; ")
                #expect(error.contains("'\(member)") && error.contains(remedy), "\(call): \(error)")
            }
        }
    }

    private enum Compiler {
        /// Where the build put the modules, beside the test binary.
        private static var modules: URL {
            URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appendingPathComponent("Modules")
        }

        static var canImportTheModules: Bool {
            FileManager.default.fileExists(atPath: modules.appendingPathComponent("MidstreamCore.swiftmodule").path)
        }

        /// The errors by line.
        static func errors(in source: String) async throws -> [Int: [String]] {
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("misuse-\(UUID().uuidString).swift")
            try Data(source.utf8).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let arguments = ["swiftc", "-typecheck", "-swift-version", "6", "-I", modules.path, file.path]
            let text = try await ChildProcess.run("/usr/bin/env", arguments).errorText
            var errors: [Int: [String]] = [:]
            for match in text.matches(of: /\.swift:(\d+):\d+: error: (.*)/) {
                errors[Int(match.1) ?? 0, default: []].append(String(match.2))
            }
            return errors
        }
    }
#endif
