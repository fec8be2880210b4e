import Foundation
import Midstream

/// Decodes bombs from the server whose address is the argument, and prints what other requests of the same loop and the process's
/// memory notice of it. Ends with 1 when that is more than is allowed.
@main
struct BombBench {
    private static let allowedWait = 50.0
    private static let allowedRise = 8 << 20

    static func main() async throws {
        guard let server = CommandLine.arguments.dropFirst().first else { return print("bomb-bench URL") }
        var isFailed = false
        print("coding     delivery               decoded      wait    wait, gzip  memory   seconds   CPU of 1 MiB")
        for coding in ["gzip", "br", "zstd", "gzip-gzip"] {
            for delivery in Delivery.allCases {
                let trial = BombTrial(server: server, coding: coding, delivery: delivery)
                let result = try await trial.run()
                let isTooMuch =
                    result.wait > allowedWait || result.encodedWait > allowedWait
                    || (delivery.isBounded && result.rise > allowedRise)
                isFailed = isFailed || isTooMuch
                print(
                    "\(coding.padded(9))  \(delivery.rawValue.padded(20))", Int(result.decoded >> 20).description.padded(left: 5),
                    "MiB",
                    "\(result.wait.tenths) ms".padded(left: 10), "\(result.encodedWait.tenths) ms".padded(left: 10),
                    "\((Double(result.rise) / 1e6).tenths) MB".padded(left: 10), result.seconds.tenths.padded(left: 6),
                    turn(of: result).padded(left: 13),
                    isTooMuch ? " too much" : "")
            }
        }
        if isFailed { exit(1) }
    }

    /// What 1 MiB has cost, the most that is decoded between two looks at the sockets, in the processor's time: with all that is done
    /// with it and beside it, and whoever else has the processor.
    private static func turn(of result: BombTrial.Result) -> String {
        guard result.decoded >= 1 << 30 else { return "" }
        return "\((result.processorSeconds * 1_000 * Double(1 << 20) / Double(result.decoded)).tenths) ms"
    }
}

/// What is done with the body.
enum Delivery: String, CaseIterable {
    case streamed = "streamed, read"
    case stalled = "streamed, stalled"
    /// Refused at 4 MiB.
    case limited = "buffered up to 4 MiB"
    /// Kept in memory, all of it.
    case buffered = "buffered, no limit"

    /// Whether what is kept of the body is less than all of it.
    var isBounded: Bool { self != .buffered }
}

extension Double {
    var tenths: String { "\((self * 10).rounded() / 10)" }
}

extension String {
    func padded(_ width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
    func padded(left width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}
