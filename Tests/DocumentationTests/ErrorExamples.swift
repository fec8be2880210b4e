import Foundation
import Midstream
import MidstreamTesting
import Testing

@Suite("Errors.md", .timeLimit(.minutes(10)))
struct ErrorExamples {
    private struct User: Decodable, Sendable { let name: String }
    private struct Problem: Decodable { let detail: String }

    @Test("One idiom for all", arguments: ["late", "gone", "busy"])
    func catching(id: String) async throws {
        let stub = StubTransport { request in
            switch request.url.lastPathComponent {
            case "late": throw HTTPError(.timeout)
            case "gone": return HTTPResponse(status: .notFound, request: request)
            default: return HTTPResponse(status: .conflict, body: .json(text: #"{"detail": "busy"}"#), request: request)
            }
        }
        let client = HTTPClient(
            baseURL: "https://api.example.com/users",
            configuration: .init(maxRetries: 1, validators: [DefaultValidator(retriableErrors: [.timeout: .immediate])]),
            transport: stub)
        let lastKnown = User(name: "Ann")
        var user: User? = User(name: "nobody")
        var problem = ""
        do {
            user = try await client.get("users/\(id)").value(User.self)
        } catch HTTPError.timeout, HTTPError.connection {
            user = lastKnown  // slow or away, also after all retries
        } catch let error as HTTPError where error.response?.status == .notFound {
            user = nil
        } catch let error as HTTPError where error.response != nil {
            problem = try error.decode(Problem.self).detail  // what the API says about it
        }
        #expect(user?.name == ["late": "Ann", "busy": "nobody"][id] && problem == (id == "busy" ? "busy" : ""))
    }

    @Test("An error of one's own")
    func own() throws {
        let tenant = "a"
        let error = #expect(throws: HTTPError.self) {
            let request = HTTPRequest("https://h/")
            throw HTTPError(.validation, "The quota of \(tenant) is used up.", request: request, phase: .notSent)
        }
        #expect(error.map { "\($0)" } == "validation: The quota of a is used up. [GET https://h/]")
    }

    @Test("A budget that is used up ends a call after its first attempt, with the code of the others")
    func budget() async throws {
        let stub = StubTransport(status: .serviceUnavailable)
        let client = HTTPClient(
            baseURL: "https://api.example.com",
            configuration: .init(maxRetries: 3, retryBudget: RetryBudget(share: 0, reserve: 0)), transport: stub)
        let error = await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("users")) }
        #expect(error?.code == .retriesExhausted && error?.cause == .unacceptableStatus && stub.requests.count == 1)
    }

    @Test("The table has all codes that there are, and no other")
    func codes() throws {
        var declared: Set<String> = []
        var caught: Set<String> = []
        for path in Repository.files(below: "Sources", withExtension: "swift") {
            let text = try Repository.lines(of: path).joined(separator: "\n")
            caught.formUnion(text.matches(of: /public static var (\w+): Code { \.(\w+) }/).map { String($0.1) })
            for part in text.components(separatedBy: "extension HTTPError.Code {").dropFirst() {
                let members = part.components(separatedBy: "\n}").first ?? ""
                declared.formUnion(members.matches(of: /public static let \w+ = Self\(rawValue: "(\w+)"\)/).map { String($0.1) })
            }
        }
        let rows = try MarkdownPage(path: "Documentation/Errors.md").table(below: "Codes")
        #expect(declared.count > 20 && caught == declared)
        #expect(Set(rows) == declared && rows.count == declared.count)
    }
}

extension MarkdownPage {
    /// The names in the first columns of the tables below a heading, as far as they are written as code; up to the next heading.
    func table(below heading: String) throws -> [String] {
        let below = try lines().drop { !$0.hasPrefix("##") || !$0.hasSuffix("# \(heading)") }.dropFirst()
        return below.prefix { !$0.hasPrefix("#") }.filter { $0.hasPrefix("|") }
            .flatMap { $0.split(separator: "|").first?.matches(of: /`([^`]+)`/).map { String($0.1) } ?? [] }
    }
}
