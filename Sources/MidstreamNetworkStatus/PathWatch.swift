#if canImport(Network)
    internal import Dispatch
    internal import Interception
    internal import Network

    /// Hears of the path that connections would take.
    ///
    /// `@unchecked Sendable`: all is constant, and monitors can be started and cancelled on any thread.
    final class PathWatch: @unchecked Sendable {
        private let monitor = NWPathMonitor()

        /// - Parameter heard: Called soon, and after each change, with whether there is a network.
        private init(_ heard: @escaping @Sendable (Bool) -> Void) {
            // One that only a connection would bring up, such as a tunnel on demand, would be waited for in vain.
            monitor.pathUpdateHandler = { heard($0.status != .unsatisfied) }
            monitor.start(queue: DispatchQueue(label: "midstream.network-status"))
        }

        /// Begins a watch, and returns what ends it.
        static func begin(_ whenOnline: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
            let watch = PathWatch { if $0 { whenOnline() } }
            return { watch.monitor.cancel() }
        }

        /// Whether there is a network now. Only a monitor that has been started knows.
        static var isOnline: Bool {
            get async {
                let answer = Suspension<Bool>()
                let watch = PathWatch { answer.resume($0) }
                defer { watch.monitor.cancel() }
                // A monitor answers as soon as it is started.
                return await answer.value()
            }
        }
    }
#endif
