import Foundation
import Measuring
import Midstream
import MidstreamWebSocket
import MidstreamWire

/// Does with sockets over the wire what `socket-baseline` does with libcurl's, and prints what that prints:
///
///     socket-bench echo|bulk|chunks|receive URL COUNT SIZE [loop]
///     socket-bench idle URL COUNT [CERTIFICATE] [deflate] [unread]
///
/// `chunks` sends one message of so many pieces, `receive` has one sent back, in fragments; `loop` has the tasks on the transport's
/// thread. An idle socket has a reader that waits, unless it is `unread`.
@main
struct SocketBench {
    static func main() {
        runToEnd {
            let arguments = Array(CommandLine.arguments.dropFirst())
            guard arguments.count >= 3, let count = Int(arguments[2]) else { return print("no such arguments") }
            let options = Set(arguments.dropFirst(3))
            if arguments[0] == "idle" {
                try await IdleTrial(url: arguments[1], count: count, options).run()
                return
            }
            guard arguments.count >= 4, let size = Int(arguments[3]) else { return print("no size") }
            let transport = WireTransport()
            let trial = TrafficTrial(
                client: HTTPClient(transport: transport), url: arguments[1], count: count,
                message: [UInt8](repeating: UInt8(ascii: "x"), count: size))
            guard options.contains("loop") else { return try await trial.run(arguments[0]) }
            try await withTaskExecutorPreference(transport.executor) { try await trial.run(arguments[0]) }
        }
    }
}

struct Surprise: Error, CustomStringConvertible {
    let description: String
}
