internal import Foundation

public import MidstreamCore
internal import Platform

extension HTTPError.Code {
    /// The file that a response was to be written to can't be made, written or put in its place.
    public static let fileUnwritable = Self(rawValue: "fileUnwritable")
}

/// A file that takes another one's place when it is complete, and is removed when that doesn't happen.
///
/// Writes happen in the task that has the bytes: they go to the page cache, and a hop to another thread costs more.
///
/// - Invariant: used by one task at a time, which `~Copyable` and the lack of `Sendable` see to.
struct DownloadFile: ~Copyable {
    private let target: String
    private let temporary: String
    private let descriptor: Int32

    init(replacing file: URL) throws {
        guard file.isFileURL else {
            throw HTTPError(
                .fileUnwritable, "\(URLText.redacted(file.absoluteString)) is no file URL.", phase: .notSent)
        }
        var status = stat()
        guard stat(file.path, &status) != 0 || status.st_mode & S_IFMT != S_IFDIR else {
            throw HTTPError(.fileUnwritable, "\(file.path) is a folder; the name of a file in it is needed.", phase: .notSent)
        }
        let folder = file.deletingLastPathComponent()
        let path = folder.appendingPathComponent(".midstream-\(UUID().uuidString)").path
        let opened = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard opened >= 0 else { throw Self.failure("make a file beside", file.path, phase: .notSent) }
        target = file.path
        temporary = path
        descriptor = opened
    }

    deinit {
        close(descriptor)
        // Once it has been moved there is nothing left under the name.
        unlink(temporary)
    }

    /// Throws if a response says that it is longer than what is free.
    func checkSpace(for response: HTTPResponse) throws {
        guard let length = response.body.length else { return }
        var system = statvfs()
        guard fstatvfs(descriptor, &system) == 0 else { return }
        let (free, isMore) = UInt64(system.f_bavail).multipliedReportingOverflow(by: UInt64(system.f_frsize))
        guard !isMore, length > 0, UInt64(length) > free else { return }
        throw HTTPError(
            .fileUnwritable, "Can't write \(target): the response has \(length) bytes, and \(free) are free.",
            request: response.request, phase: .answered)
    }

    func write(_ bytes: [UInt8]) throws {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { all in
                let rest = UnsafeRawBufferPointer(rebasing: all[written...])
                return System.write(descriptor, rest.baseAddress, rest.count)
            }
            guard count >= 0 else {
                if errno == EINTR { continue }
                throw Self.failure("write", target)
            }
            written += count
        }
    }

    func complete() throws {
        guard rename(temporary, target) == 0 else { throw Self.failure("replace", target) }
    }

    private static func failure(_ what: String, _ path: String, phase: HTTPError.Phase = .answered) -> HTTPError {
        HTTPError(.fileUnwritable, "Can't \(what) \(path): \(String(cString: strerror(errno))).", phase: phase)
    }
}
