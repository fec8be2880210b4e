internal import Foundation
internal import Interception
internal import MidstreamCompression
internal import MidstreamCore

/// What a document holds.
enum TelemetryKind: String, CaseIterable, Sendable {
    case traces, metrics

    /// What can be refused of it.
    var parts: String { self == .traces ? "spans" : "data points" }

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

/// What a collector refused of a document whose rest it took.
struct TelemetryRefusal: Decodable {
    /// How many spans, or data points of metrics.
    private(set) var count = 0
    /// Why, in its words.
    let message: String?

    private enum Key: String, CodingKey { case rejectedSpans, rejectedDataPoints, errorMessage }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        message = try? fields.decode(String.self, forKey: .errorMessage)
        for key in [Key.rejectedSpans, .rejectedDataPoints] {
            // 64 bits, so a text; some write a number.
            let text = (try? fields.decode(String.self, forKey: key)).flatMap { Int($0) }
            count.addRefused(text ?? (try? fields.decode(Int.self, forKey: key)) ?? 0)
        }
    }
}

extension Int {
    /// Counts what a collector says it has refused, which may be any number.
    mutating func addRefused(_ count: Int) {
        let (sum, isTooMuch) = addingReportingOverflow(Swift.max(0, count))
        self = isTooMuch ? .max : sum
    }
}

protocol TelemetrySink: Sendable {
    /// Returns what was refused of it.
    func send(_ document: [UInt8], _ kind: TelemetryKind) async throws -> TelemetryRefusal?
}

/// A file with a document in each line, to which others may write as well.
struct FileSink: TelemetrySink {
    private let file: Locked<(handle: FileHandle, isTorn: Bool)>

    init(_ path: String) throws {
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw OpenTelemetryExporter.Failure.file(path) }
        file = Locked((handle: FileHandle(fileDescriptor: descriptor, closeOnDealloc: true), isTorn: false))
    }

    func send(_ document: [UInt8], _ kind: TelemetryKind) async throws -> TelemetryRefusal? {
        try file.withLock { file in
            // A write that failed may have left a part of a line.
            let start = file.isTorn ? "\n" : ""
            file.isTorn = true
            // In one piece, which the system puts at the end of what is there by then.
            try file.handle.write(contentsOf: Data(start.utf8) + Data(document) + Data("\n".utf8))
            file.isTorn = false
        }
        return nil
    }
}

/// Where a collector takes documents of a kind, and how.
struct CollectorTarget {
    var url: String
    /// Added to the URL's.
    var path: String
    var headers: HTTPHeaders
    var timeout = Duration.seconds(10)
    var isCompressed = true
}

struct CollectorSink: TelemetrySink {
    private let targets: [TelemetryKind: (target: CollectorTarget, client: HTTPClient)]

    init(
        _ targets: [TelemetryKind: CollectorTarget], transport: any HTTPTransport, clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.targets = targets.mapValues { ($0, Self.client($0, transport, clock)) }
    }

    private static func client(
        _ target: CollectorTarget, _ transport: any HTTPTransport, _ clock: any Clock<Duration>
    ) -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.clock = clock
        configuration.timeout = target.timeout
        configuration.maxRetries = 4
        configuration.maximumRetryAfter = .seconds(300)
        configuration.maximumBufferedBody = 1 << 20
        // What a redirect leads to, such as a page to log in, is no collector, and isn't to have the collector's key.
        configuration.redirects = .refuse
        let retriable: [HTTPStatus: RetryStrategy] = DefaultValidator.usualStatus.filter {
            [429, 502, 503, 504].contains($0.key.code)
        }
        configuration.validators = [DefaultValidator(acceptableStatus: .success, retriableStatus: retriable)]
        return HTTPClient(baseURL: target.url, configuration: configuration, transport: transport) {
            if target.isCompressed { CompressRequests(.fastGzip) }
        }
    }

    private struct Answer: Decodable { var partialSuccess: TelemetryRefusal? }

    func send(_ document: [UInt8], _ kind: TelemetryKind) async throws -> TelemetryRefusal? {
        guard let (target, client) = targets[kind] else { return nil }
        var request = HTTPRequest(.post, RequestURL(target.path), headers: target.headers)
        request.body = .bytes(document).withContentType("application/json")
        // A collector that gets a batch twice knows its spans by their identifiers.
        request.allowsUnsafeRetry = true
        let response = try await client.send(request)
        let answer = try? JSONDecoder().decode(Answer.self, from: Data(response.body.bytes ?? []))
        guard let refusal = answer?.partialSuccess, refusal.count > 0 else { return nil }
        return refusal
    }
}
