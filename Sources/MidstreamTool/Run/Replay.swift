import Foundation
import Midstream
import MidstreamTelemetry

/// The calls of an archive, played from it or sent anew.
struct Replay {
    let file: String
    let arguments: Arguments

    /// Returns the exit status of the first call that failed; 0 when none did.
    func run() async throws -> Int32 {
        let archive = try HARArchive(contentsOf: file)
        if let account = archive.account { show(account) }
        // One that can't be sent is told before any is.
        let requests = try archive.calls.map { arguments.sendsAnew ? try Self.sendable($0) : $0.request }
        let transport = try arguments.sendsAnew ? arguments.transport.transport() : ReplayTransport(archive)
        // What only shows requests leaves no files.
        let isShown = arguments.showsExplanation || arguments.showsCurlCommand
        let recording: Recording? = try isShown ? nil : Recording(arguments)
        var status: Int32 = 0
        for (call, request) in zip(archive.calls, requests) {
            var request = request
            for (name, value) in arguments.headers { request.headers[name] = value }
            Terminal.printError("midst: \(Redaction().line(request.method, request.urlText))")
            let invocation = Invocation(arguments, retries: max(arguments.retries, call.retries))
            let outcome = try await invocation.run(request, by: transport, recording: recording)
            if status == 0 { status = outcome }
        }
        return status
    }

    /// Shows what an archive says of its call. It may be somebody else's.
    private func show(_ account: HARArchive.Account) {
        Terminal.printError("midst: recorded: \(account.failure.escapingControls)")
        guard arguments.showsTrace, let trace = account.trace else { return }
        for line in trace.split(separator: "\n", omittingEmptySubsequences: false) {
            Terminal.printError(String(line).escapingControls)
        }
    }

    /// A request without what was withheld of it, which has to be given anew.
    private static func sendable(_ call: HARArchive.Call) throws -> HTTPRequest {
        guard !call.isCut else {
            throw UsageError("a body isn't in the archive, or not all of it: its request can be played, but not be sent")
        }
        var request = call.request
        let isWithheld = request.body.bytes.map { String(decoding: $0, as: UTF8.self).contains(Redaction.withheld) } ?? false
        // As archives write it, too. What else is encoded in the URL needn't be UTF-8.
        let url = request.urlText.uppercased()
        let marks = [Redaction.withheld, Redaction.withheld.percentEncoded].map { $0.uppercased() }
        guard !isWithheld, !marks.contains(where: { url.contains($0) }) else {
            throw UsageError("a URL or body in the archive has secrets that were withheld: it can be played, but not be sent")
        }
        for (name, value) in request.headers where value.contains(Redaction.withheld) { request.headers.remove(name) }
        for name: HTTPHeaders.Name in ["Host", .contentLength, "Transfer-Encoding", .userAgent, "Accept-Encoding"] {
            request.headers.remove(name)
        }
        return request
    }
}
