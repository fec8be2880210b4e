import Foundation
import Midstream
import MidstreamTelemetry

/// What keeps the calls of a run, in an archive and as telemetry.
struct Recording {
    private let recorder: HARRecorder?
    private let telemetry: OpenTelemetryExporter?
    /// Whether that goes to a collector.
    private let isCollected: Bool

    init(_ arguments: Arguments) throws {
        recorder = try arguments.archive.map { try HARRecorder(file: $0, bodies: 1 << 20, limit: .max) }
        let isCollected = arguments.telemetry?.contains("://") == true
        self.isCollected = isCollected
        telemetry = try arguments.telemetry.map { place in
            try OpenTelemetryExporter(
                to: isCollected ? .collector(place, over: arguments.transport.elsewhere.transport()) : .file(place),
                service: "midst", attributes: ["service.version": Arguments.versionNumber], spans: .exchangesAndCalls)
        }
    }

    var observers: [any CallObserver] {
        let all: [(any CallObserver)?] = [recorder, telemetry]
        return all.compactMap { $0 }
    }

    /// Does the work, and then keeps what came of it and the cookies, also where Ctrl-C or a reader of the output that has had enough ends it, as
    /// is usual for streams.
    ///
    /// - Returns: The exit status.
    func keeping(_ session: Session?, of work: () async throws -> Int32) async throws -> Int32 {
        var result = await Result<Int32, any Error>.of(work)
        // First, since a second Ctrl-C ends the wait for a collector that doesn't answer.
        do {
            try session?.save()
        } catch {
            if case .success = result { result = .failure(error) } else { Terminal.printError("midst: \(error)") }
        }
        let isWritten = await finish()
        let status = try result.get()
        return status == 0 && !isWritten ? 1 : status
    }

    /// Writes and sends what there is, and says what couldn't be.
    ///
    /// - Returns: Whether all of it is in its files. A collector may be away.
    private func finish() async -> Bool {
        var isWritten = true
        if let recorder {
            await recorder.flush()
            if let failure = recorder.failure {
                isWritten = false
                Terminal.printError("midst: \(failure)")
            }
            Self.tell(recorder.dropped, "observations that the archive lacks, as the disk was too slow")
            Self.tell(recorder.omitted, "exchanges that the archive has no room for")
        }
        guard let telemetry else { return isWritten }
        let isDone = await telemetry.flush()
        if let failure = telemetry.failure ?? (isDone ? nil : "it took too long") {
            if !isCollected { isWritten = false }
            Terminal.printError("midst: the telemetry wasn't \(isCollected ? "sent" : "written"): \(failure)")
        } else {
            // The last export was well received.
            Self.tell(telemetry.dropped, "spans that were lost")
            Self.tell(telemetry.rejected, "spans and data points that the collector refused")
        }
        return isWritten
    }

    private static func tell(_ count: Int, _ what: String) {
        if count > 0 { Terminal.printError("midst: \(what): \(count)") }
    }
}
