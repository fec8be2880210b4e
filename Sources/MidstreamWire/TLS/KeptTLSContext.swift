#if os(Linux)
    internal import Interception
    internal import MidstreamCore
    internal import MidstreamPlatform
    internal import MidstreamTransport
    internal import MidstreamLoop

    /// The context of a configuration, which is made when it is first needed: reading the authorities takes up to tens of milliseconds. Another
    /// takes its place when the files of a client certificate, or with one the authorities', have changed. What has failed is tried again a second
    /// later.
    final class KeptTLSContext: Sendable {
        private struct State {
            var made: Result<TLSContext, any Error>?
            /// What the files were when it was made; none when that has failed.
            var files: [FileVersion?]?
            /// In nanoseconds of the monotonic clock.
            var nextLook: UInt64 = .max
        }

        private let configuration: TLSConfiguration
        private let state = Locked(State())
        private let now: @Sendable () -> UInt64

        init(_ configuration: TLSConfiguration, now: @escaping @Sendable () -> UInt64 = { MonotonicTime.now() }) {
            self.configuration = configuration
            self.now = now
        }

        /// - Throws: ``HTTPError`` when the configuration can't be carried out.
        func current() throws -> TLSContext {
            var problem: (any Error)?
            let context = state.withLock { state in
                if let made = state.made, !mayHaveChanged(&state) { return made }
                // Before they are read, so that what changes meanwhile is read again.
                let files = FileVersion.ofFiles(configuration)
                let fresh = Result { try TLSContext(configuration) }
                if case .failure(let error) = fresh {
                    problem = error
                    if case .success? = state.made { return state.made ?? fresh }
                }
                state.made = fresh
                switch fresh {
                case .success:
                    state.files = files
                    state.nextLook = time(after: reloadingInterval)
                case .failure:
                    // What it takes may be there without a change of the files, such as a descriptor.
                    state.files = nil
                    state.nextLook = time(after: min(1_000_000_000, reloadingInterval))
                }
                return fresh
            }
            if let problem = problem as? HTTPError { configuration.clientCertificate?.reloading?.onFailure?(problem) }
            return try context.get()
        }

        /// How long the files are taken for what they were, in nanoseconds; `.max`: for good.
        private var reloadingInterval: UInt64 {
            configuration.clientCertificate?.reloading?.interval.wholeNanoseconds ?? .max
        }

        private func time(after interval: UInt64) -> UInt64 {
            let (time, isOver) = now().addingReportingOverflow(interval)
            return isOver ? .max : time
        }

        private func mayHaveChanged(_ state: inout State) -> Bool {
            guard state.nextLook < .max, state.nextLook <= now() else { return false }
            state.nextLook = time(after: reloadingInterval)
            return FileVersion.ofFiles(configuration) != state.files
        }
    }

    extension FileVersion {
        fileprivate static func ofFiles(_ configuration: TLSConfiguration) -> [FileVersion?] {
            var paths = configuration.clientCertificate?.paths ?? []
            if case .file(let path) = configuration.authorities { paths.append(path) }
            return paths.map { FileVersion($0) }
        }
    }

    extension TLSConfiguration {
        /// What a proxy is checked by: it is no server, so that it has none of its pins, and isn't told who the client is.
        var forProxies: TLSConfiguration {
            var configuration = self
            configuration.clientCertificate = nil
            configuration.pinnedPublicKeys = []
            return configuration
        }
    }
#endif
