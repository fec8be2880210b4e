import Foundation
import Testing

/// No interceptor of the package escapes the laws.
@Suite("Every interceptor of the package")
struct LawCoverageTests {
    /// A type that says at its declaration that it is an interceptor of HTTP.
    private struct Declared {
        let module: String
        let name: String
    }

    @Test("is held to the laws by a test that mirrors its module")
    func isHeldToTheLaws() throws {
        let declared = try Self.interceptors(below: "Sources") + Self.interceptors(below: "Examples")
        #expect(declared.count >= 15, "the declarations are no longer recognised")
        let tests = Repository.files(below: "Tests", withExtension: "swift").filter { $0.hasSuffix("LawTests.swift") }
        for type in declared {
            let mirrors = try tests.filter { $0.hasPrefix("Tests/\(type.module)Tests/") }.flatMap { try Repository.lines(of: $0) }
            let isTried = mirrors.contains { $0.split { !$0.isLetter && !$0.isNumber }.contains(Substring(type.name)) }
            #expect(isTried, "\(type.name) of \(type.module) isn't in its law tests")
        }
    }

    private static func interceptors(below folder: String) throws -> [Declared] {
        let declaration =
            /\b(?:struct|class|actor|enum)\s+(\w+)(?:<.*>)?\s*:[^{]*\b(?:HTTP|Request|Response|Lifecycle)Interceptor\b/
        return try Repository.files(below: folder, withExtension: "swift").flatMap { path in
            let module = String(path.split(separator: "/")[1])
            return try Repository.lines(of: path).compactMap { line in
                line.firstMatch(of: declaration).map { Declared(module: module, name: String($0.1)) }
            }
        }
    }
}
