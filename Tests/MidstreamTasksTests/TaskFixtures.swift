import Foundation
import Interception
import MidstreamTasks
import MidstreamCore
import MidstreamTesting
import TestSupport

struct User: Codable, Sendable, Equatable {
    var id: Int
    var name: String
}

/// Something that several tasks write to in a test.
struct Log<Entry: Sendable>: Sendable {
    private let entries_ = Locked<[Entry]>([])
    var entries: [Entry] { entries_.withLock { $0 } }
    func add(_ entry: Entry) { entries_.withLock { $0.append(entry) } }
}

extension StubTransport {
    /// Answers every request with a JSON text.
    static func json(_ text: String, status: HTTPStatus = .ok) -> StubTransport {
        StubTransport(status: status, headers: ["Content-Type": "application/json"], body: .bytes(Array(text.utf8)))
    }

    /// Answers with these statuses, one after the other, and an empty body.
    static func statuses(_ statuses: HTTPStatus...) -> StubTransport {
        StubTransport(sequence: statuses.map { .respond($0) })
    }
}

extension HTTPClient {
    static func stubbed(
        _ transport: StubTransport, _ change: (inout Configuration) -> Void = { _ in }
    ) -> HTTPClient {
        var configuration = Configuration()
        change(&configuration)
        return testClient(baseURL: "https://example.com", configuration: configuration, transport: transport)
    }
}

/// The error that a piece of work throws.
func failure(_ work: () async throws -> some Any) async -> (any Error)? {
    do {
        _ = try await work()
        return nil
    } catch {
        return error
    }
}
