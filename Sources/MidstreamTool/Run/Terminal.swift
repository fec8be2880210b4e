import Foundation

/// Where output goes: answers to standard output, everything about them to standard error.
enum Terminal {
    /// Has writing to a reader that has gone away fail, rather than end the process. A standard descriptor that is closed is made one that
    /// can't be used, so that no socket or file gets its number.
    static func prepare() {
        signal(SIGPIPE, SIG_IGN)
        for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) == -1 {
            _ = open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY)
        }
    }

    static func print(_ text: String, into descriptor: Int32 = STDOUT_FILENO) throws {
        try put(Array((text + "\n").utf8), into: descriptor)
    }
    static func printError(_ text: String) { put(error: text + "\n") }
    static func put(error text: String) { try? put(Array(text.utf8), into: STDERR_FILENO) }

    /// Whether output takes the place of what is there: of nothing or of a regular file. A device, a pipe or a link stays and is written to.
    static func isReplaceable(_ path: String) -> Bool {
        let type = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
        return type == nil || type == .typeRegular
    }

    /// Opens what is there, whatever it is, to be written from its beginning, or makes a file. One that standard output goes to is gone on
    /// with: what stands in it may be older than this run.
    static func descriptor(_ path: String) throws -> Int32 {
        let descriptor =
            isOutput(path)
            ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw failure(errno, toWrite: path) }
        return descriptor
    }

    /// Whether a path, such as `/dev/stdout`, leads to a file that standard output goes to.
    private static func isOutput(_ path: String) -> Bool {
        var (file, output) = (stat(), stat())
        return stat(path, &file) == 0 && fstat(STDOUT_FILENO, &output) == 0 && file.st_mode & S_IFMT == S_IFREG
            && (file.st_dev, file.st_ino) == (output.st_dev, output.st_ino)
    }

    /// Throws what `descriptor(_:)` would, as far as that can be told without opening anything, which the reader of a pipe would see.
    static func check(_ path: String) throws {
        var code = access(path, W_OK) == 0 ? 0 : errno
        // What isn't there is made; for a link that leads to nothing, nobody knows where.
        if code == ENOENT {
            let folder = URL(fileURLWithPath: path).absoluteURL.deletingLastPathComponent().path
            code = isReplaceable(path) && access(folder, W_OK | X_OK) != 0 ? errno : 0
        }
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { code = EISDIR }
        if code != 0 { throw failure(code, toWrite: path) }
    }

    /// Puts a file in the place of what has its name, which is there as a whole or as it was.
    ///
    /// - Parameters:
    ///   - mode: Who may read it when it is complete. Until then it is its owner's alone.
    ///   - name: What it is called until then; by default as nothing else is.
    ///   - make: Makes a new file at a path, and returns its descriptor.
    static func replace(
        _ file: URL, by content: [UInt8], mode: mode_t = 0o600, beside name: String? = nil,
        making make: (String) -> Int32 = Self.makeFile
    ) throws {
        let beside = file.deletingLastPathComponent().appendingPathComponent(name ?? ".\(UUID().uuidString)").path
        let descriptor = make(beside)
        guard descriptor >= 0 else { throw failure(errno, toWrite: file.path) }
        defer { close(descriptor) }
        do {
            try put(content, into: descriptor)
            guard fchmod(descriptor, mode) == 0, fsync(descriptor) == 0, rename(beside, file.path) == 0 else {
                throw OutputFailure(code: errno)
            }
        } catch let problem as OutputFailure {
            unlink(beside)
            throw failure(problem.code, toWrite: file.path)
        }
    }

    /// Makes a file that is its owner's alone from its first moment, also where a run that is killed leaves it.
    static func makeFile(_ path: String) -> Int32 { open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600) }

    private static func failure(_ code: Int32, toWrite path: String) -> RunFailure {
        RunFailure("can't write the file '\(path)': \(String(cString: strerror(code)))")
    }

    /// Writes all of the bytes.
    ///
    /// - Throws: `OutputFailure`.
    static func put(_ bytes: [UInt8], into descriptor: Int32) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&room, 1, -1)
            } else if errno != EINTR {
                // What is told beside an answer ends no run.
                if descriptor == STDERR_FILENO { return }
                throw OutputFailure(code: errno)
            }
        }
    }
}

struct OutputFailure: Error, CustomStringConvertible {
    /// One of `errno`'s.
    let code: Int32

    var description: String { "can't write the output: \(String(cString: strerror(code)))" }
}

/// What goes wrong on the way, when something may have been sent; wrong usage says that nothing was.
struct RunFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
