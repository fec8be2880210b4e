import Foundation
import Midstream
import MidstreamTelemetry

/// What keeps the calls of a run, in an archive and as telemetry.
struct Recording {
    private let recorder: HARRecorder?
    private let telemetry: OpenTelemetryExporter?

    init(_ arguments: Arguments) throws {
        recorder = try arguments.archive.map { try HARRecorder(file: $0, bodies: 1 << 20) }
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

    /// Writes and sends what there is, and says what couldn't be.
    func finish() async {
        await recorder?.flush()
        if let failure = recorder?.failure { Terminal.printError("midst: \(failure)") }
        guard let telemetry else { return }
        let isDone = await telemetry.flush()
        if let failure = telemetry.failure ?? (isDone ? nil : "it took too long") {
            Terminal.printError("midst: the telemetry wasn't sent: \(failure)")
        }
    }
}
