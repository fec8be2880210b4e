internal import Foundation
internal import Interception
internal import MidstreamCompression
internal import MidstreamCore

/// What a document holds.
enum TelemetryKind: String, Sendable {
    case traces, metrics

    /// As OTLP has it in JSON.
    func document(_ objects: [JSONObject], _ resource: JSONObject) -> String {
        var scope = JSONObject()
        scope.add("name", "midstream")
        var scoped = JSONObject()
        scoped.begin("scope")
        scoped.append(raw: scope)
        scoped.add(self == .traces ? "spans" : "metrics", objects)
        var resourced = JSONObject()
        resourced.begin("resource")
        resourced.append(raw: resource)
        resourced.add(self == .traces ? "scopeSpans" : "scopeMetrics", [scoped])
        var document = JSONObject()
        document.add(self == .traces ? "resourceSpans" : "resourceMetrics", [resourced])
        return document.text
    }
}

/// Takes documents.
protocol TelemetrySink: Sendable {
    /// Returns how many of its parts were refused.
    func send(_ document: String, _ kind: TelemetryKind) async throws -> Int
}

/// A file with a document in each line.
struct FileSink: TelemetrySink {
    private let file: Locked<FileHandle>

    init(_ path: String) throws {
        if !FileManager.default.fileExists(atPath: path) {
            _ = FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
        }
        do {
            file = Locked(try FileHandle(forUpdating: URL(fileURLWithPath: path)))
        } catch {
            throw OpenTelemetryExporter.Failure.file(path)
        }
    }

    func send(_ document: String, _ kind: TelemetryKind) async throws -> Int {
        try file.withLock { file in
            try file.seekToEnd()
            try file.write(contentsOf: Data((document + "\n").utf8))
        }
        return 0
    }
}

/// A collector.
struct CollectorSink: TelemetrySink {
    private let client: HTTPClient
    private let headers: HTTPHeaders

    init(url: String, headers: HTTPHeaders, transport: any HTTPTransport, clock: any Clock<Duration>) {
        self.headers = headers
        var configuration = HTTPClient.Configuration()
        configuration.clock = clock
        configuration.timeout = .seconds(10)
        configuration.maxRetries = 4
        configuration.maximumBufferedBody = 1 << 20
        let retriable: [HTTPStatus: RetryStrategy] = DefaultValidator.usualStatus.filter {
            [429, 502, 503, 504].contains($0.key.code)
        }
        configuration.validators = [DefaultValidator(retriableStatus: retriable)]
        client = HTTPClient(baseURL: url.hasSuffix("/") ? url : url + "/", configuration: configuration, transport: transport) {
            CompressRequests(.gzip)
        }
    }

    private struct Answer: Decodable {
        struct Partial: Decodable {
            /// 64 bits, so a text; some write a number.
            var rejected = 0

            private enum Key: String, CodingKey { case rejectedSpans, rejectedDataPoints }

            init(from decoder: any Decoder) throws {
                let fields = try decoder.container(keyedBy: Key.self)
                for key in [Key.rejectedSpans, .rejectedDataPoints] {
                    let text = (try? fields.decode(String.self, forKey: key)).flatMap { Int($0) }
                    rejected += text ?? (try? fields.decode(Int.self, forKey: key)) ?? 0
                }
            }
        }
        var partialSuccess: Partial?
    }

    func send(_ document: String, _ kind: TelemetryKind) async throws -> Int {
        var request = HTTPRequest(.post, "v1/\(kind.rawValue)", headers: headers)
        request.body = .bytes(Array(document.utf8)).withContentType("application/json")
        // A collector that gets a batch twice knows its spans by their identifiers.
        request.allowsUnsafeRetry = true
        let response = try await client.send(request)
        let answer = try? JSONDecoder().decode(Answer.self, from: Data(response.body.bytes ?? []))
        return answer?.partialSuccess?.rejected ?? 0
    }
}
