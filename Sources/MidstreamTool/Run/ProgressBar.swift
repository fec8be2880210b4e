import Foundation
import Midstream

/// Shows on a terminal how far a file has come.
struct ProgressBar {
    /// - Parameter isSilent: Whether nothing is shown.
    static func showing<Value>(
        _ isSilent: Bool, _ transfer: (TransferMeter?) async throws -> Value
    ) async throws -> Value {
        guard !isSilent, isatty(STDERR_FILENO) == 1 else { return try await transfer(nil) }
        return try await showing(by: { Terminal.put(error: $0) }, transfer)
    }

    /// - Parameter put: Writes to the terminal.
    static func showing<Value>(
        by put: @escaping @Sendable (String) async -> Void, _ transfer: (TransferMeter?) async throws -> Value
    ) async throws -> Value {
        let meter = TransferMeter()
        let display = Task {
            for await update in meter { await put("\r\(text(update))\u{1B}[K") }
        }
        let result = await Result<Value, any Error>.of { try await transfer(meter) }
        display.cancel()
        // The last update comes with the end, and would stay on the terminal if it were shown behind it.
        await display.value
        await put("\r\u{1B}[K")
        return try result.get()
    }

    static func text(_ update: TransferProgress) -> String {
        var parts = [update.fraction.map { bar($0) } ?? "", size(Double(update.bytes))]
        if let total = update.total { parts[1] += " of \(size(Double(total)))" }
        if let rate = update.rate { parts.append("\(size(rate))/s") }
        if let left = update.timeLeft {
            let seconds = left.components.seconds
            parts.append("\(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60) left")
        }
        return parts.filter { !$0.isEmpty }.joined(separator: "  ")
    }

    private static func bar(_ fraction: Double) -> String {
        let full = Int(fraction * 24)
        let percent = String(Int(fraction * 100))
        return "[" + String(repeating: "#", count: full) + String(repeating: " ", count: 24 - full) + "] "
            + String(repeating: " ", count: 3 - percent.count) + "\(percent) %"
    }

    private static func size(_ bytes: Double) -> String {
        var (value, place) = (bytes, 0)
        let units = ["B", "KB", "MB", "GB", "TB"]
        while value >= 1_000, place < units.count - 1 { (value, place) = (value / 1_000, place + 1) }
        let tenths = Int((value * 10).rounded())
        return place == 0 ? "\(Int(value)) B" : "\(tenths / 10).\(tenths % 10) \(units[place])"
    }
}
