public import Foundation
public import MidstreamCore

extension OpenTelemetryExporter {
    /// A variable of the environment that can't be understood.
    public struct InvalidVariable: Error, Sendable, Hashable, CustomStringConvertible {
        /// Its name.
        public let name: String
        /// What is expected there.
        public let expected: String

        /// Both; not the value, which may be a secret.
        public var description: String { "\(name) has to be \(expected)" }
    }

    /// Makes an exporter as the environment's variables say; nil when `OTEL_SDK_DISABLED` is `true`.
    ///
    /// | variable | default |
    /// | --- | --- |
    /// | `OTEL_EXPORTER_OTLP_ENDPOINT`, to which `/v1/traces` and `/v1/metrics` are added | `http://localhost:4318` |
    /// | `OTEL_EXPORTER_OTLP_HEADERS` | |
    /// | `OTEL_EXPORTER_OTLP_TIMEOUT`, in milliseconds | 10,000 |
    /// | `OTEL_EXPORTER_OTLP_COMPRESSION`, `gzip` or `none` | `gzip` |
    /// | `OTEL_EXPORTER_OTLP_PROTOCOL`, `http/json` and nothing else | `http/json` |
    /// | `OTEL_SERVICE_NAME` | `service.name` of the attributes, or `unknown_service:` and the process' name |
    /// | `OTEL_RESOURCE_ATTRIBUTES` | |
    /// | `OTEL_TRACES_SAMPLER`: `always_on`, `always_off` or `traceidratio`, with or without `parentbased_` | `traceidratio` |
    /// | `OTEL_TRACES_SAMPLER_ARG`, the part of the traces that `traceidratio` sends | 1 |
    /// | `OTEL_METRIC_EXPORT_INTERVAL`, in milliseconds | 60,000 |
    ///
    /// Those that begin with `OTEL_EXPORTER_OTLP_` may have `TRACES_` or `METRICS_` behind that, and count for these alone then; such an
    /// endpoint is taken as it is. What they say of certificates is the transport's to know. A trace that began before goes by its parent,
    /// whatever the sampler.
    ///
    /// - Parameters:
    ///   - transport: What sends the telemetry.
    ///   - environment: The variables; those of the process by default. An empty one counts as none.
    /// - Throws: ``InvalidVariable``.
    public convenience init?(
        over transport: any HTTPTransport, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        let variables = TelemetryVariables(environment)
        if variables["OTEL_SDK_DISABLED"]?.lowercased() == "true" { return nil }
        let targets = try TelemetryKind.allCases.map { ($0, try variables.target(of: $0)) }
        var attributes = try variables.pairs("OTEL_RESOURCE_ATTRIBUTES").filter { !$0.value.isEmpty }
        let service = variables["OTEL_SERVICE_NAME"] ?? attributes.removeValue(forKey: "service.name")
        let ratio = try variables.ratio()
        let interval = try variables.number("OTEL_METRIC_EXPORT_INTERVAL", in: 1...1e9) ?? 60_000
        self.init(
            CollectorSink(Dictionary(uniqueKeysWithValues: targets), transport: transport),
            service: service ?? "unknown_service:\(ProcessInfo.processInfo.processName)", attributes: attributes, ratio: ratio,
            metricsInterval: .milliseconds(interval))
    }
}

private struct TelemetryVariables {
    private typealias Invalid = OpenTelemetryExporter.InvalidVariable

    private let all: [String: String]

    init(_ environment: [String: String]) { all = environment.filter { !$0.value.isEmpty } }

    subscript(name: String) -> String? { all[name] }

    func target(of kind: TelemetryKind) throws -> CollectorTarget {
        let spoken = exporter("PROTOCOL", of: kind)
        guard all[spoken] == nil || all[spoken] == "http/json" else { throw Invalid(name: spoken, expected: "http/json") }
        let place = exporter("ENDPOINT", of: kind)
        let url = all[place] ?? "http://localhost:4318"
        guard HTTPOrigin(url) != nil else { throw Invalid(name: place, expected: "an http or https URL") }
        let compression = exporter("COMPRESSION", of: kind)
        guard ["gzip", "none", nil].contains(all[compression]) else { throw Invalid(name: compression, expected: "gzip or none") }
        let timeout = try number(exporter("TIMEOUT", of: kind), in: 1...1e9) ?? 10_000
        return CollectorTarget(
            url: url, path: place == "OTEL_EXPORTER_OTLP_ENDPOINT" ? "v1/\(kind.rawValue)" : "",
            headers: try headers(exporter("HEADERS", of: kind)), timeout: .milliseconds(timeout),
            isCompressed: all[compression] != "none")
    }

    /// The variable that counts for a kind: its own, if there is one.
    private func exporter(_ name: String, of kind: TelemetryKind) -> String {
        let own = "OTEL_EXPORTER_OTLP_\(kind.rawValue.uppercased())_\(name)"
        return all[own] == nil ? "OTEL_EXPORTER_OTLP_\(name)" : own
    }

    private func headers(_ name: String) throws -> HTTPHeaders {
        var headers = HTTPHeaders()
        for (field, value) in try pairs(name) {
            guard !value.isEmpty else { throw Invalid(name: name, expected: "a value for each field") }
            headers.add(HTTPHeaders.Name(field), value)
            headers.markSensitive(HTTPHeaders.Name(field))
        }
        guard headers.refused.isEmpty else { throw Invalid(name: name, expected: "a list of header fields such as a=b,c=d") }
        return headers
    }

    /// `a=b,c=d`, percent-encoded.
    func pairs(_ name: String) throws -> [String: String] {
        var pairs: [String: String] = [:]
        for item in (all[name] ?? "").split(separator: ",") {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            guard parts.count == 2, let value = parts[1].removingPercentEncoding, !parts[0].isEmpty else {
                throw Invalid(name: name, expected: "a list such as a=b,c=d")
            }
            pairs[parts[0]] = value
        }
        return pairs
    }

    /// Which part of the traces is sent.
    func ratio() throws -> Double {
        let name = "OTEL_TRACES_SAMPLER"
        switch (all[name] ?? "traceidratio").trimmingPrefix("parentbased_") {
        case "always_on": return 1
        case "always_off": return 0
        case "traceidratio": return try number("OTEL_TRACES_SAMPLER_ARG", in: 0...1) ?? 1
        default: throw Invalid(name: name, expected: "always_on, always_off or traceidratio, with or without parentbased_")
        }
    }

    func number(_ name: String, in range: ClosedRange<Double>) throws -> Double? {
        guard let text = all[name] else { return nil }
        guard let number = Double(text), range.contains(number) else {
            throw Invalid(name: name, expected: "a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}
