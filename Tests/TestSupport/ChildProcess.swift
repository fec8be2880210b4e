#if os(Linux) || os(macOS)
    import Foundation
    import Interception

    #if canImport(Darwin)
        import Darwin
    #elseif canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    /// What came of a program that was run in a process of its own.
    ///
    /// On Linux, Foundation's `Process` lists the descriptors of the process that starts it and reads beyond the end of the list,
    /// which is a crash at some numbers of them. Tests that run in parallel have many.
    package struct ChildProcess: Sendable {
        package enum Status: Sendable, Equatable {
            case exited(Int32)
            case killed(signal: Int32)
        }

        /// The program couldn't be run.
        package struct NotStarted: Error {
            package let program: String
            /// One of `errno`'s.
            package let code: Int32
        }

        package let status: Status
        package let output: [UInt8]
        package let errorOutput: [UInt8]

        package var text: String { String(decoding: output, as: UTF8.self) }
        package var errorText: String { String(decoding: errorOutput, as: UTF8.self) }

        /// Runs a program to its end, on a thread of its own. It inherits the environment and no descriptor, and reads nothing.
        ///
        /// - Parameter program: A path.
        /// - Throws: ``NotStarted``. If the task is cancelled, the program is killed with those that it has started, and a
        ///   `CancellationError` is thrown.
        package static func run(_ program: String, _ arguments: [String]) async throws -> ChildProcess {
            let life = Locked(Life.unborn)
            let child = try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    Thread.detachNewThread { continuation.resume(with: Result { try live(life, program, arguments) }) }
                }
            } onCancel: {
                life.withLock { life in
                    if case .running(let id) = life { kill(-id, SIGKILL) } else { life = .over }
                }
            }
            try Task.checkCancellation()
            return child
        }

        private enum Life {
            case unborn
            case running(pid_t)
            /// Its identifier may be another's by now. What is over before it was born isn't born.
            case over
        }

        private static func live(_ life: Locked<Life>, _ program: String, _ arguments: [String]) throws -> ChildProcess {
            let output = try Pipe(for: program)
            let errorOutput = try Pipe(for: program)
            let id = try life.withLock { life in
                guard case .unborn = life else { throw CancellationError() }
                let id = try spawn(program, arguments, output: output, errorOutput: errorOutput)
                life = .running(id)
                return id
            }
            output.closeWriteEnd()
            errorOutput.closeWriteEnd()
            let bytes = Pipe.readToEnd([output, errorOutput])
            var end = siginfo_t()
            while waitid(P_PID, id_t(id), &end, WEXITED | WNOWAIT) != 0, errno == EINTR {}
            var status: Int32 = 0
            life.withLock { life in
                while waitpid(id, &status, 0) < 0, errno == EINTR {}
                life = .over
            }
            let signal = status & 0x7f
            return ChildProcess(
                status: signal == 0 ? .exited(status >> 8 & 0xff) : .killed(signal: signal), output: bytes[0],
                errorOutput: bytes[1])
        }

        private static func spawn(
            _ program: String, _ arguments: [String], output: Pipe, errorOutput: Pipe
        ) throws -> pid_t {
            #if canImport(Darwin)
                var actions: posix_spawn_file_actions_t?
                var attributes: posix_spawnattr_t?
            #else
                var actions = posix_spawn_file_actions_t()
                var attributes = posix_spawnattr_t()
            #endif
            posix_spawn_file_actions_init(&actions)
            posix_spawnattr_init(&attributes)
            defer {
                posix_spawn_file_actions_destroy(&actions)
                posix_spawnattr_destroy(&attributes)
            }
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
            posix_spawn_file_actions_adddup2(&actions, output.writeEnd, STDOUT_FILENO)
            posix_spawn_file_actions_adddup2(&actions, errorOutput.writeEnd, STDERR_FILENO)
            // The thread may have been made by one that blocks signals.
            var noSignals = sigset_t()
            sigemptyset(&noSignals)
            posix_spawnattr_setsigmask(&attributes, &noSignals)
            // A group of its own, which can be killed as one.
            posix_spawnattr_setpgroup(&attributes, 0)
            let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP
            #if canImport(Darwin)
                posix_spawnattr_setflags(&attributes, Int16(flags | POSIX_SPAWN_CLOEXEC_DEFAULT))
            #else
                posix_spawnattr_setflags(&attributes, Int16(flags))
                // The headers hide it, and a C library may lack it: then what is open without close-on-exec is inherited.
                typealias CloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
                if let symbol = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") {
                    _ = unsafeBitCast(symbol, to: CloseFrom.self)(&actions, STDERR_FILENO + 1)
                }
            #endif
            var texts = ([program] + arguments).map { strdup($0) } + [nil]
            var environment = ProcessInfo.processInfo.environment.map { strdup("\($0)=\($1)") } + [nil]
            defer { for text in texts + environment { free(text) } }
            var id: pid_t = 0
            let code = posix_spawn(&id, program, &actions, &attributes, &texts, &environment)
            guard code == 0 else { throw NotStarted(program: program, code: code) }
            return id
        }
    }

    /// Closes its ends when nobody refers to it any more. Only the thread that made it uses it.
    private final class Pipe {
        private let readEnd: Int32
        private(set) var writeEnd: Int32

        init(for program: String) throws {
            var ends: [Int32] = [-1, -1]
            guard pipe(&ends) == 0 else { throw ChildProcess.NotStarted(program: program, code: errno) }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            (readEnd, writeEnd) = (ends[0], ends[1])
        }

        deinit {
            close(readEnd)
            closeWriteEnd()
        }

        func closeWriteEnd() {
            if writeEnd >= 0 { close(writeEnd) }
            writeEnd = -1
        }

        /// Reads several pipes at once, so that the program never waits for one that isn't read.
        static func readToEnd(_ pipes: [Pipe]) -> [[UInt8]] {
            var bytes = pipes.map { _ in [UInt8]() }
            var waits = pipes.map { pollfd(fd: $0.readEnd, events: Int16(POLLIN), revents: 0) }
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while waits.contains(where: { $0.fd >= 0 }) {
                guard poll(&waits, nfds_t(waits.count), -1) > 0 else { continue }
                for place in waits.indices where waits[place].fd >= 0 && waits[place].revents != 0 {
                    let count = read(waits[place].fd, &buffer, buffer.count)
                    if count > 0 { bytes[place] += buffer[..<count] }
                    // Of the negative ones, poll passes over.
                    if count == 0 || count < 0 && errno != EINTR { waits[place].fd = -1 }
                }
            }
            return bytes
        }
    }
#else
    import Testing

    /// Where no other program can be started, a test that wants one is given up.
    package struct ChildProcess: Sendable {
        package enum Status: Sendable, Equatable {
            case exited(Int32)
            case killed(signal: Int32)
        }

        package struct NotStarted: Error {}

        package let status = Status.exited(0)
        package let output: [UInt8] = []
        package let errorOutput: [UInt8] = []
        package let text = ""
        package let errorText = ""

        package static func run(_ program: String, _ arguments: [String]) async throws -> ChildProcess {
            try Test.cancel("This platform lets nobody start \(program).")
        }
    }
#endif
