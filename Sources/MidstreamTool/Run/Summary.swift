import Midstream

/// A text with `%{name}` for what is known of a call when it is over, as curl's `--write-out`.
struct SummaryFormat: Sendable {
    private var parts: [@Sendable (Summary) -> String] = []

    init(_ format: String) throws {
        var rest = format[...]
        while let character = rest.popFirst() {
            var text = "\(character)"
            if character == "\\", let next = rest.popFirst() {
                text = ["n": "\n", "t": "\t", "r": "\r"][next] ?? "\\\(next)"
            } else if character == "%", rest.first == "%" {
                rest.removeFirst()
            } else if character == "%", rest.hasPrefix("header{") || rest.first == "{" {
                let isField = rest.first != "{"
                guard let end = rest.firstIndex(of: "}"), let start = rest.firstIndex(of: "{") else {
                    throw UsageError("-w lacks a bracket: \(rest)")
                }
                let name = String(rest[rest.index(after: start)..<end])
                rest = rest[rest.index(after: end)...]
                parts.append(try isField ? Self.field(name) : Self.value(name))
                continue
            }
            parts.append { [text] _ in text }
        }
    }

    private static func field(_ name: String) -> @Sendable (Summary) -> String {
        { $0.last?.responseHeaders?[HTTPHeaders.Name(name)]?.escapingControls ?? "" }
    }

    private static func value(_ name: String) throws -> @Sendable (Summary) -> String {
        guard let value = values[name] else {
            throw UsageError("-w doesn't know '%{\(name)}', but \(values.keys.sorted().joined(separator: ", "))")
        }
        return value
    }

    private static let values: [String: @Sendable (Summary) -> String] = [
        "http_code": { $0.last?.status.map { "\($0.code)" } ?? "000" },
        "method": { $0.last?.method.rawValue ?? "" },
        "url_effective": { $0.last.map { $0.redaction.url($0.url) } ?? "" },
        "content_type": { $0.last?.responseHeaders?[.contentType]?.escapingControls ?? "" },
        "http_version": { ($0.last?.version?.rawValue ?? "0").replacing("HTTP/", with: "") },
        "num_redirects": { "\($0.count(of: "redirect"))" },
        "num_retries": { "\($0.count(of: "retry"))" },
        "num_exchanges": { "\($0.exchanges)" },
        "errormsg": { $0.call?.failure ?? "" },
        "remote_ip": { $0.metrics?.remoteAddress ?? "" },
        "remote_port": { $0.metrics?.remotePort.map(String.init) ?? "" },
        "local_ip": { $0.metrics?.localAddress ?? "" },
        "local_port": { $0.metrics?.localPort.map(String.init) ?? "" },
        "size_download": { "\($0.metrics?.responseBodyBytes ?? 0)" },
        "size_upload": { "\($0.metrics?.requestBodyBytes ?? 0)" },
        "time_namelookup": { seconds($0.metrics?.nameLookup) },
        "time_connect": { seconds($0.metrics?.connect) },
        "time_appconnect": { seconds($0.metrics?.tlsHandshake) },
        "time_pretransfer": { seconds($0.metrics?.sendStart) },
        "time_starttransfer": { seconds($0.metrics?.firstByte) },
        "time_total": { seconds($0.duration) },
    ]

    /// As curl has them.
    private static func seconds(_ time: Duration?) -> String { (time ?? .zero).text(digits: 6) }

    func text(of summary: Summary) -> String { parts.map { $0(summary) }.joined() }
}

struct Summary: Sendable {
    var last: ExchangeRecord?
    var call: CallRecord?
    var exchanges = 0
    fileprivate var events: [String: Int] = [:]

    fileprivate var metrics: TransportMetrics? { last?.metrics }
    fileprivate func count(of event: String) -> Int { events[event, default: 0] }

    /// Until the body had come.
    fileprivate var duration: Duration? { last.map { max($0.start + $0.duration, call?.duration ?? .zero) } }
}

final class SummaryObserver: CallObserver {
    private let state = Locked(Summary())

    var summary: Summary { state.withLock { $0 } }

    func happened(_ event: CallEvent, at time: Duration, in call: CallRecord.ID) {
        state.withLock { $0.events[event.name, default: 0] += 1 }
    }

    func endedExchange(_ exchange: ExchangeRecord) {
        state.withLock { state in
            // One that was cancelled, as the loser of a hedge is, may end last.
            if state.last == nil || exchange.error != "cancelled" { state.last = exchange }
            state.exchanges += 1
        }
    }

    func endedBody(_ end: HTTPBody.End, of exchange: ExchangeRecord) {
        state.withLock { if $0.last?.id == exchange.id { $0.last = exchange } }
    }

    func endedCall(_ call: CallRecord) { state.withLock { $0.call = call } }
}
