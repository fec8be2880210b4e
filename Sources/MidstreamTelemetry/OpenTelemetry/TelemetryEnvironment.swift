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

    /// Makes an exporter as the environment's variables say: `OTEL_EXPORTER_OTLP_ENDPOINT` (by default `http://localhost:4318`),
    /// `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_TRACES_SAMPLER_ARG`,
    /// `OTEL_METRIC_EXPORT_INTERVAL`; nil when `OTEL_SDK_DISABLED` is `true`.
    ///
    /// - Parameters:
    ///   - transport: What sends the telemetry.
    ///   - environment: The variables; those of the process by default.
    /// - Throws: ``InvalidVariable``; also for an `OTEL_EXPORTER_OTLP_PROTOCOL` other than `http/json`.
    public convenience init?(
        over transport: any HTTPTransport, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        // An empty variable counts as none.
        let environment = environment.filter { !$0.value.isEmpty }
        if environment["OTEL_SDK_DISABLED"]?.lowercased() == "true" { return nil }
        if let spoken = environment["OTEL_EXPORTER_OTLP_PROTOCOL"], spoken != "http/json" {
            throw InvalidVariable(name: "OTEL_EXPORTER_OTLP_PROTOCOL", expected: "http/json")
        }
        let url = environment["OTEL_EXPORTER_OTLP_ENDPOINT"] ?? "http://localhost:4318"
        guard HTTPOrigin(url) != nil else {
            throw InvalidVariable(name: "OTEL_EXPORTER_OTLP_ENDPOINT", expected: "an http or https URL")
        }
        var attributes = try Self.pairs("OTEL_RESOURCE_ATTRIBUTES", environment)
        var headers = HTTPHeaders()
        for (name, value) in try Self.pairs("OTEL_EXPORTER_OTLP_HEADERS", environment) {
            headers.add(HTTPHeaders.Name(name), value)
            headers.markSensitive(HTTPHeaders.Name(name))
        }
        let service = environment["OTEL_SERVICE_NAME"] ?? attributes.removeValue(forKey: "service.name")
        let ratio = try Self.number("OTEL_TRACES_SAMPLER_ARG", environment, in: 0...1) ?? 1
        let interval = try Self.number("OTEL_METRIC_EXPORT_INTERVAL", environment, in: 1...1e9) ?? 60_000
        try self.init(
            to: .collector(url, headers: headers, over: transport),
            service: service ?? "unknown_service:\(ProcessInfo.processInfo.processName)", attributes: attributes, ratio: ratio,
            metricsInterval: .milliseconds(interval))
    }

    /// `a=b,c=d`, percent-encoded.
    private static func pairs(_ name: String, _ environment: [String: String]) throws -> [String: String] {
        var pairs: [String: String] = [:]
        for item in (environment[name] ?? "").split(separator: ",") {
            let parts = item.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            guard parts.count == 2, let value = parts[1].removingPercentEncoding, !parts[0].isEmpty else {
                throw InvalidVariable(name: name, expected: "a list such as a=b,c=d")
            }
            pairs[parts[0]] = value
        }
        return pairs
    }

    private static func number(
        _ name: String, _ environment: [String: String], in range: ClosedRange<Double>
    ) throws -> Double? {
        guard let text = environment[name] else { return nil }
        guard let number = Double(text), range.contains(number) else {
            throw InvalidVariable(name: name, expected: "a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}
