internal import Foundation
public import MidstreamCore

/// A page that shows calls to people: a list with a waterfall, and of each call what happened to it, in order.
///
/// ```swift
/// let page = CallReport(calls).html()
/// ```
///
/// The page is one file that needs nothing else: it loads nothing, and no text of a server can become a part of its code. Secrets are withheld.
public struct CallReport: Sendable {
    private let calls: [ReportedCall]
    private let title: String
    private let made: Date
    private let live: Live?

    /// What the page needs to go on by itself.
    struct Live {
        /// The number of the first call.
        let first: Int
        /// How many calls it shows.
        let limit: Int
    }

    /// Makes a report of calls that observers were given.
    ///
    /// - Parameters:
    ///   - calls: The calls, in any order.
    ///   - title: The page's title.
    ///   - redaction: What is withheld; nil: what each client's configuration says.
    public init(_ calls: [CallRecord], title: String = "Calls", redaction: Redaction? = nil) {
        let made = calls.map(\.start).min() ?? Date(timeIntervalSince1970: 0)
        self.init(calls.map { ReportedCall($0, since: made, redaction: redaction ?? $0.redaction) }, title: title, made: made)
    }

    /// Makes a report of an archive's exchanges, of whoever has written it. What the archive holds is shown as it is.
    public init(_ archive: HARArchive, title: String = "Calls") {
        let dates = archive.entries.compactMap(\.start)
        let made = dates.min() ?? Date(timeIntervalSince1970: 0)
        self.init(archive.entries.byCall.map { ReportedCall($0, since: made) }, title: title, made: made)
    }

    /// - Parameter made: From when the calls' times count.
    init(_ calls: [ReportedCall], title: String, made: Date, live: Live? = nil) {
        (self.calls, self.title, self.made, self.live) = (calls, title, made, live)
    }

    /// The page, in UTF-8 by its own account.
    public func html() -> String {
        let script = Self.text(PackageResources.script_js)
        let style = Self.text(PackageResources.style_css)
        let liveScript = live == nil ? "" : "<script>\(Self.text(PackageResources.live_js))</script>\n"
        let policy = Self.policy(isLive: live != nil)
        let title = title.replacing(scalars: ["&": "&amp;", "<": "&lt;", "\"": "&quot;"])
        let values: [Substring: String] = [
            "title": title, "policy": policy, "style": style, "script": script, "live": liveScript, "data": data,
        ]
        var page = ""
        var rest = Self.text(PackageResources.page_html)[...]
        while let start = rest.firstIndex(of: "{"), let end = rest[start...].firstIndex(of: "}") {
            page += rest[..<start]
            page += values[rest[rest.index(after: start)..<end]] ?? ""
            rest = rest[rest.index(after: end)...]
        }
        return page + rest
    }

    /// What the page may do: run its own script, and ask the server that it came from for more if it is live.
    static func policy(isLive: Bool) -> String {
        let scripts = isLive ? "'\(scriptHash)' '\(liveHash)'; connect-src 'self'" : "'\(scriptHash)'"
        return
            "default-src 'none'; script-src \(scripts); style-src '\(styleHash)'; img-src data:; base-uri 'none'; form-action 'none'"
    }

    /// What the page's policy lets run and apply: these files and nothing else. A test compares them with the files.
    static let scriptHash = "sha256-7CMWj4bHzfvUdo2sOfrMjwJXaG+b1ShXiGwYHeEVGwQ="
    static let liveHash = "sha256-rbbRp3Nr9Qbi0dJPhHL//Se+CHEF31+Li2wHIjXcxCQ="
    static let styleHash = "sha256-EKw+6xQNVp2FTfDymiEaZGz1DIMtZHROv9cPi9mDGRg="

    static func text(_ resource: [UInt8]) -> String { String(decoding: resource, as: UTF8.self) }

    /// JSON that can stand in a page's script: nothing in it ends that, and JSONObject escapes its line separators.
    private var data: String {
        var report = JSONObject()
        report.add("version", 1)
        report.add("title", title)
        report.begin("made")
        // The page's dates end at 8.64e15.
        report.append(Int64(made.timeIntervalSince1970 * 1_000, within: 8e15))
        if let live {
            var object = JSONObject()
            object.add("first", live.first)
            object.add("limit", live.limit)
            report.begin("live")
            report.append(raw: object)
        }
        report.add("calls", calls.lazy.map(\.json))
        // By bytes: what combines with the character doesn't hide it.
        let pieces = report.data().split(separator: UInt8(ascii: "<"), omittingEmptySubsequences: false)
        return String(decoding: Array(pieces.joined(separator: #"\u003c"#.utf8)), as: UTF8.self)
    }
}
