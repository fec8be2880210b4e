import Dispatch
import Foundation
import Midstream
import MidstreamTesting
import Testing

@Suite("Concurrency.md", .timeLimit(.minutes(10)))
struct ConcurrencyExamples {
    struct Profile: Codable, Sendable { let name: String }

    @MainActor
    final class ProfileModel {
        private(set) var name = ""
        private(set) var fraction = 0.0
        private let client: HTTPClient

        init(client: HTTPClient) { self.client = client }

        func load() async throws {
            name = try await client.get("profile").value(Profile.self).name  // set on the main actor
        }

        func save(film: URL) async throws {
            let meter = TransferMeter()
            let display = Task {
                for await update in meter { fraction = update.fraction ?? fraction }  // on the main actor, too
            }
            defer { display.cancel() }
            try await client.download(HTTPRequest("film"), to: film, options: DownloadOptions(meter: meter))
        }
    }

    @Test("A model of the main actor")
    func model() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).mp4")
        defer { try? FileManager.default.removeItem(at: file) }
        let stub = StubTransport { request in
            request.url.path == "/film"
                ? HTTPResponse(status: .ok, headers: [.contentLength: "4"], body: "rain", request: request)
                : HTTPResponse(status: .ok, body: try .json(Profile(name: "Ann")), request: request)
        }
        let model = await ProfileModel(client: HTTPClient(baseURL: "https://api.example.com", transport: stub))
        try await model.load()
        try await model.save(film: file)
        #expect(await model.name == "Ann")
        #expect(await (0...1).contains(model.fraction))
        #expect(try String(contentsOf: file, encoding: .utf8) == "rain")
    }

    /// Counts requests by host.
    actor HostCounter: RequestInterceptor {
        private(set) var counts: [String: Int] = [:]

        func intercept(request: inout HTTPRequest) async throws {
            counts[request.url.host ?? "", default: 0] += 1
        }
    }

    /// Asks on the screen before anything is deleted.
    @MainActor
    final class DeletionPrompt: HTTPInterceptor {
        nonisolated let stage = InterceptorStage.call
        private let confirm: @MainActor (String) async -> Bool

        init(confirm: @escaping @MainActor (String) async -> Bool) { self.confirm = confirm }

        func intercept(
            _ request: HTTPRequest, next: Next<HTTPRequest, HTTPResponse>
        ) async throws -> HTTPResponse {
            if request.method == .delete, await !confirm(request.url.path) { throw CancellationError() }
            return try await next(request)
        }
    }

    @Test("Interceptors that are actors")
    func actors() async throws {
        let counter = HostCounter()
        let questions = Recorder()
        let prompt = await DeletionPrompt { path in
            questions.write(path)
            return path == "/old"
        }
        let stub = StubTransport(status: .ok)
        let client = HTTPClient(baseURL: "https://api.example.com", transport: stub) {
            prompt
            counter
        }
        try await withThrowingTaskGroup { group in
            for _ in 0..<20 { group.addTask { _ = try await client.send(HTTPRequest("users")) } }
            try await group.waitForAll()
        }
        _ = try await client.delete("old").data()
        await #expect(throws: CancellationError.self) { try await client.delete("new").data() }
        #expect(questions.events == ["/old", "/new"])
        #expect(await counter.counts == ["api.example.com": 21])
        #expect(stub.requests.count == 21)
    }

    private static let mainQueue: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    /// Whether this runs where the main actor's code does, which on Linux isn't the main thread.
    private static func isOnMainActor() -> Bool { DispatchQueue.getSpecific(key: mainQueue) == true }

    private struct Place: HTTPValidator {
        let places: Recorder
        func validate(_ response: HTTPResponse, for request: HTTPRequest) async throws -> HTTPVerdict {
            places.write("validator \(ConcurrencyExamples.isOnMainActor())")
            return .next
        }
    }

    @Test("Code of the pipeline leaves the main actor, and the caller comes back to it")
    @MainActor
    func places() async throws {
        let places = Recorder()
        @Sendable func note(_ name: String) { places.write("\(name) \(Self.isOnMainActor())") }
        let stub = StubTransport { request in
            note("transport")
            return HTTPResponse(status: .ok, body: "[1]", request: request)
        }
        var configuration = HTTPClient.Configuration()
        configuration.validators = [Place(places: places)]
        let client = HTTPClient(baseURL: "https://api.example.com", configuration: configuration, transport: stub) {
            ClosureRequestInterceptor { _ in note("request") }
            ClosureHTTPInterceptor { request, next in
                note("full")
                return try await next(request)
            }
        }
        note("caller")
        let sum = try await client.get("numbers").progress(.download) { _ in note("progress") }
            .decode([Int].self)
            .map { result in
                note("map")
                return result.payload.reduce(0, +)
            }
            .result()
        note("caller")
        #expect(sum == 1)
        #expect(places.events.first == "caller true" && places.events.last == "caller true")
        #expect(
            Set(places.events.dropFirst().dropLast())
                == Set(["request", "full", "transport", "validator", "progress", "map"].map { "\($0) false" }))
        for try await chunk in try await client.stream(HTTPRequest("numbers")).body {
            #expect(Self.isOnMainActor() && !chunk.isEmpty)
        }
    }

    @Test("A body that is still arriving has one reader")
    func oneReader() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(body: .pattern(length: 300_000)))
        let body = try await HTTPClient(baseURL: server.url()).stream(HTTPRequest("film")).body
        var received = 0
        for try await chunk in body { received += chunk.count }
        for _ in 0..<2 {
            await #expect {
                for try await _ in body { Issue.record("a second reader gets nothing") }
            } throws: { error in
                (error as? HTTPError)?.code == .bodyNotReplayable
            }
        }
        #expect(received == 300_000)
    }
}
