import Midstream
import MidstreamTelemetry
import MidstreamTesting
import ServiceLifecycle
import SwiftUI

/// Sends what is left of the telemetry when the service is asked to stop.
struct TelemetryService: Service {
    let telemetry: OpenTelemetryExporter

    func run() async throws {
        // Throws where the whole group is cancelled, as when another service fails; what led there is sent all the same.
        try? await gracefulShutdown()
        await telemetry.flush(within: .seconds(5))
    }
}

func lifecycle() async throws {
    let collector = StubTransport(status: 200)
    let telemetry = try OpenTelemetryExporter(to: .collector("http://localhost:4318", over: collector), service: "shop")
    let client = HTTPClient(configuration: .init(observers: [telemetry]), transport: StubTransport(status: 200))
    _ = try await client.send(HTTPRequest("https://api.example.com/"))
    let service = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        try await TelemetryService(telemetry: telemetry).run()
    }
    try await service.value
    expect(collector.requests.contains { $0.urlText == "http://localhost:4318/v1/traces" }, "\(collector.requests)")
}

struct User: Decodable, Sendable {
    let name: String
}

@MainActor
final class UserModel: ObservableObject {
    enum State {
        case loading
        case loaded(User)
        case failed(String)
    }

    @Published private(set) var state = State.loading
    private let client: HTTPClient
    private let id: Int

    init(id: Int, client: HTTPClient) {
        self.id = id
        self.client = client
    }

    /// Cancelled with the task that calls it, and may be called again.
    func load() async {
        let before = state
        if case .failed = state { state = .loading }
        do {
            state = .loaded(try await client.get("users/\(id)").value(User.self))
        } catch is CancellationError {
            // The view may still be there, and another load may have given it something to show.
            if case .loading = state { state = before }
        } catch {
            state = .failed((error as? HTTPError)?.message ?? "\(error)")
        }
    }
}

/// What is there stays when a load is cancelled.
@MainActor
func userModel() async {
    let stub = StubTransport(sequence: [.respond(404), .respond(200, body: .text(#"{"name": "Ann"}"#))])
    let model = UserModel(id: 42, client: HTTPClient(baseURL: "https://api.example.com", transport: stub))
    for shown in ["failed", "loaded"] {
        await model.load()
        let refresh = Task { await model.load() }
        refresh.cancel()
        await refresh.value
        expect("\(model.state)".hasPrefix(shown), "\(model.state)")
    }
}

struct UserView: View {
    @StateObject var model: UserModel

    var body: some View {
        Group {
            switch model.state {
            case .loading: ProgressView()
            case .loaded(let user): Text(user.name)
            case .failed(let message):
                Text(message)
                Button("Try again") { Task { await model.load() } }
            }
        }
        .task { await model.load() }
        .refreshable { await model.load() }
    }
}
