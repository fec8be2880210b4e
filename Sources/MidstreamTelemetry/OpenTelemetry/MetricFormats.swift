internal import Foundation
internal import MidstreamCore

extension CallMetrics {
    /// The measurements in Prometheus' text format (version 0.0.4).
    public var prometheus: String {
        var text = ""
        for (instrument, sets) in snapshot() {
            let name = instrument.prometheusName
            let type =
                switch instrument.kind {
                case .histogram: "histogram"
                case .counter: "counter"
                case .upDownCounter, .gauge: "gauge"
                }
            text += "# TYPE \(name) \(type)\n"
            for (labels, measurement) in sets.map({ ($0.labels, $1) }).sorted(by: { $0.0 < $1.0 }) {
                text += Self.lines(name, labels, measurement, instrument)
            }
        }
        return text
    }

    private static func lines(_ name: String, _ labels: String, _ measurement: Measurement, _ instrument: Instrument) -> String {
        let shown = labels.isEmpty ? "" : "{\(labels)}"
        guard instrument.kind == .histogram else { return "\(name)\(shown) \(measurement.sum)\n" }
        var (text, total) = ("", UInt64(0))
        for (place, count) in measurement.counts.enumerated() {
            total += count
            let bound = place < instrument.bounds.count ? "\(instrument.bounds[place])" : "+Inf"
            text += "\(name)_bucket{\(labels)\(labels.isEmpty ? "" : ",")le=\"\(bound)\"} \(total)\n"
        }
        return text + "\(name)_sum\(shown) \(measurement.sum)\n\(name)_count\(shown) \(measurement.count)\n"
    }

    /// The measurements since the start as OTLP has them in JSON.
    func json(at now: Date) -> [JSONObject] {
        let start = start(at: now)
        return snapshot().map { instrument, sets in
            var data = JSONObject()
            data.add("dataPoints", sets.map { point($0, $1, instrument, from: start, to: now) })
            // Cumulative.
            if instrument.kind != .gauge { data.add("aggregationTemporality", 2) }
            if instrument.kind == .counter { data.add("isMonotonic", true) }
            var metric = JSONObject()
            metric.add("name", instrument.rawValue)
            metric.add("unit", instrument.unit)
            switch instrument.kind {
            case .histogram: metric.begin("histogram")
            case .counter, .upDownCounter: metric.begin("sum")
            case .gauge: metric.begin("gauge")
            }
            metric.append(raw: data)
            return metric
        }
    }

    private func point(
        _ attributes: AttributeList, _ measurement: Measurement, _ instrument: Instrument, from start: Date, to now: Date
    ) -> JSONObject {
        var point = JSONObject()
        point.add(attributes)
        point.add("startTimeUnixNano", nanoseconds: Span.nanoseconds(start, .zero))
        point.add("timeUnixNano", nanoseconds: Span.nanoseconds(now, .zero))
        switch instrument.kind {
        case .histogram:
            point.add("count", String(measurement.count))
            point.begin("sum")
            point.append(measurement.sum)
            // Counts are texts, as all numbers of 64 bits.
            point.add("bucketCounts", each: measurement.counts) { $0.append(quoted: "\($1)") }
            point.add("explicitBounds", each: instrument.bounds) { $0.append($1) }
        case .counter, .upDownCounter: point.add("asInt", String(Int64(measurement.sum)))
        case .gauge:
            point.begin("asDouble")
            point.append(measurement.sum)
        }
        return point
    }
}

extension Instrument {
    fileprivate var prometheusName: String {
        let unit = unit == "s" ? "_seconds" : unit == "By" ? "_bytes" : ""
        return rawValue.replacing(".", with: "_") + unit + (kind == .counter ? "_total" : "")
    }
}

extension AttributeList {
    /// In a label's value anything else stands for itself.
    private static let escapes: [Unicode.Scalar: String] = ["\\": #"\\"#, "\"": #"\""#, "\n": #"\n"#]

    /// As Prometheus writes them.
    fileprivate var labels: String {
        all.map { attribute in
            let text =
                switch attribute.value {
                case .string(let text): text
                case .integer(let number): "\(number)"
                case .number(let number): "\(number)"
                case .boolean(let flag): "\(flag)"
                }
            return "\(attribute.name.replacing(".", with: "_"))=\"\(text.replacing(scalars: Self.escapes))\""
        }.joined(separator: ",")
    }
}
