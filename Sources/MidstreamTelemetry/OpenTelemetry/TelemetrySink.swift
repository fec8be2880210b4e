internal import Foundation
internal import Interception
internal import MidstreamCompression
internal import MidstreamCore

/// What a document holds.
enum TelemetryKind: String, Sendable {
    case traces, metrics

    /// As OTLP has it in JSON: so many spans or metrics, which are written one after the other.
    func document(_ resource: JSONObject, of count: Int, _ write: (inout JSONObject) -> Void) -> [UInt8] {
        var document = JSONObject()
        // A span takes some 800 bytes.
        document.reserve((count + 1) << 10)
        document.begin(self == .traces ? "resourceSpans" : "resourceMetrics")
        document.append(raw: #"[{"resource":"#)
        document.append(raw: resource)
        document.begin(self == .traces ? "scopeSpans" : "scopeMetrics")
        document.append(raw: #"[{"scope":{"name":"midstream"}"#)
        document.begin(self == .traces ? "spans" : "metrics")
        document.append(raw: "[")
        write(&document)
        document.append(raw: "]}]}]")
        return document.data()
    }
}

/// Takes documents.
protocol TelemetrySink: Sendable {
    /// Returns how many of its parts were refused.
    func send(_ document: [UInt8], _ kind: TelemetryKind) async throws -> Int
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

    func send(_ document: [UInt8], _ kind: TelemetryKind) async throws -> Int {
        try file.withLock { file in
            try file.seekToEnd()
            try file.write(contentsOf: Data(document) + Data("\n".utf8))
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
            CompressRequests(.fastGzip)
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

    func send(_ document: [UInt8], _ kind: TelemetryKind) async throws -> Int {
        var request = HTTPRequest(.post, "v1/\(kind.rawValue)", headers: headers)
        request.body = .bytes(document).withContentType("application/json")
        // A collector that gets a batch twice knows its spans by their identifiers.
        request.allowsUnsafeRetry = true
        let response = try await client.send(request)
        let answer = try? JSONDecoder().decode(Answer.self, from: Data(response.body.bytes ?? []))
        return answer?.partialSuccess?.rejected ?? 0
    }
}
