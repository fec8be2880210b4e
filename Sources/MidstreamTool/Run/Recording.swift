import Foundation
import Midstream
import MidstreamTelemetry

/// What keeps the calls of a run, in an archive and as telemetry.
struct Recording {
    private let recorder: HARRecorder?
    private let telemetry: OpenTelemetryExporter?

    init(_ arguments: Arguments) throws {
        recorder = try arguments.archive.map { try HARRecorder(file: $0, bodies: 1 << 20, limit: .max) }
        telemetry = try arguments.telemetry.map { place in
            let isCollector = place.contains("://")
            return try OpenTelemetryExporter(
                to: isCollector ? .collector(place, over: arguments.transport.elsewhere.transport()) : .file(place),
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
        await finish()
        return try result.get()
    }

    /// Writes and sends what there is, and says what couldn't be.
    private func finish() async {
        if let recorder {
            await recorder.flush()
            if let failure = recorder.failure { Terminal.printError("midst: \(failure)") }
            Self.tell(recorder.dropped, "observations that the archive lacks, as the disk was too slow")
            Self.tell(recorder.omitted, "exchanges that the archive has no room for")
        }
        guard let telemetry else { return }
        let isDone = await telemetry.flush()
        if let failure = telemetry.failure ?? (isDone ? nil : "it took too long") {
            Terminal.printError("midst: the telemetry wasn't sent: \(failure)")
        } else {
            // The last export was well received.
            Self.tell(telemetry.dropped, "spans that were lost")
            Self.tell(telemetry.rejected, "spans and data points that the collector refused")
        }
    }

    private static func tell(_ count: Int, _ what: String) {
        if count > 0 { Terminal.printError("midst: \(what): \(count)") }
    }
}
