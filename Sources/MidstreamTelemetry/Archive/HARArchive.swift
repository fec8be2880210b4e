public import Foundation
public import MidstreamCore

/// Recorded exchanges, as a file in the format HTTP Archive 1.2 (`.har`) has them.
///
/// Files of browsers and proxies can be read, also where fields are missing. A file that was cut off while it was written, as when the process
/// was killed, is read up to its last whole entry.
public struct HARArchive: Sendable {
    /// What is wrong with a file.
    public enum Failure: Error, Sendable, Hashable, CustomStringConvertible {
        /// It isn't an archive, at this place.
        case malformed(String)
        /// It is larger than may be read.
        case tooLarge(limit: Int)
        /// There is a file, and it isn't to be continued, or isn't ours.
        case fileExists(String)
        /// The file can't be read or written.
        case file(String)

        /// What is wrong, in words.
        public var description: String {
            switch self {
            case .malformed(let reason): "no archive: \(reason)"
            case .tooLarge(let limit): "the archive is larger than \(limit) bytes"
            case .fileExists(let path): "there is a file already: \(path)"
            case .file(let reason): reason
            }
        }
    }

    /// How large a file may be: 512 MiB.
    public static let defaultLimit = 512 << 20

    /// What an archive tells of the failed call whose exchanges it holds.
    public struct Account: Sendable, Hashable, Codable {
        /// The error in words.
        public var failure: String
        /// The passes through the pipeline, where they were recorded.
        public var trace: String?
        /// The client's settings, a line for each.
        public var settings: [String]?
        /// What the client would have done with the request, when the archive was made.
        public var explanation: String?
    }

    /// Of an archive made by `error.capsule()`; nil for others.
    public internal(set) var account: Account?

    var entries: [HAREntry]

    init(_ entries: [HAREntry], account: Account? = nil) { (self.entries, self.account) = (entries, account) }

    /// How many exchanges there are.
    public var count: Int { entries.count }

    /// Makes an archive of exchanges.
    ///
    /// - Parameters:
    ///   - redaction: What is withheld beside what always is; nil: what the configuration of each one's client says.
    ///   - includesSecrets: Whether nothing is withheld; false by default.
    public init(_ exchanges: [ExchangeRecord], redaction: Redaction? = nil, includesSecrets: Bool = false) {
        entries = exchanges.map { HAREntry($0, redaction: includesSecrets ? nil : redaction ?? $0.redaction) }
    }

    /// Reads an archive.
    ///
    /// - Throws: ``Failure``.
    public init(_ data: Data) throws {
        let log = try Self.whole(data) ?? Self.Log(entries: Self.mended(data))
        self.init(log.entries, account: log._midstream)
    }

    /// Reads a file.
    ///
    /// - Throws: ``Failure``.
    public init(contentsOf path: String, limit: Int = Self.defaultLimit) throws {
        try self.init(Self.content(of: path, limit: limit))
    }

    private static func content(of path: String, limit: Int) throws -> Data {
        do {
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? file.close() }
            let data = try file.read(upToCount: min(limit, Int.max - 1) + 1) ?? Data()
            guard data.count <= limit else { throw Failure.tooLarge(limit: limit) }
            return data
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure.file("can't read \(path): \(cause(ofFile: error))")
        }
    }

    /// Closes the list of a file that was cut off, behind its last whole entry. All before stays as it is, and so does a whole file.
    ///
    /// - Returns: How many entries there are.
    /// - Throws: ``Failure``, also where a recorder still writes to it.
    package static func mend(_ path: String) throws -> Int {
        // A recorder may be in the midst of an entry. What can't be read is told by what follows.
        let held = try? FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { try? held?.close() }
        if let held { try lock(held, path) }
        let data = try content(of: path, limit: defaultLimit)
        if let log = try whole(data) { return log.entries.count }
        guard let end = HARFormat.wholeEntries(of: data)?.end, let log = try whole(data[..<end] + HARFormat.ending) else {
            throw Failure.malformed("it isn't JSON, and can't be ended as an archive")
        }
        do {
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
            defer { try? file.close() }
            try file.seek(toOffset: UInt64(end))
            try file.write(contentsOf: HARFormat.ending)
            try file.truncate(atOffset: UInt64(end + HARFormat.ending.count))
        } catch {
            throw Failure.file("can't write the file \(path): \(cause(ofFile: error))")
        }
        return log.entries.count
    }

    /// Locks an archive's file until it is closed.
    ///
    /// - Throws: ``Failure`` when a recorder writes to it.
    static func lock(_ file: FileHandle, _ path: String) throws {
        // There are disks that know no locks.
        if flock(file.fileDescriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
            throw Failure.file("a recorder still writes to the file \(path)")
        }
    }

    /// The archive as the content of a file.
    ///
    /// - Throws: `EncodingError` for a number that JSON has no form for.
    public func encoded() throws -> Data {
        var data = HARFormat.beginning
        for (place, entry) in entries.enumerated() {
            data += place == 0 ? HARFormat.firstSeparator : HARFormat.separator
            data += try HARFormat.encoded(entry)
        }
        guard let account else { return data + HARFormat.ending }
        return data + HARFormat.beginningOfAccount + (try HARFormat.encoded(account)) + Data("}}\n".utf8)
    }

    private struct File: Decodable { var log: Log }

    private struct Log: Decodable {
        var entries: [HAREntry]
        var _midstream: Account?
    }

    private static func whole(_ data: Data) throws -> Log? {
        do {
            return try JSONDecoder().decode(File.self, from: data).log
        } catch DecodingError.dataCorrupted {
            // Cut off, perhaps.
            return nil
        } catch {
            throw Failure.malformed("what it holds isn't a log with entries of requests and responses")
        }
    }

    /// The whole entries at the beginning of a file that isn't whole.
    private static func mended(_ data: Data) throws -> [HAREntry] {
        guard let (_, pieces) = HARFormat.wholeEntries(of: data) else {
            throw Failure.malformed("it isn't JSON, and has no list of entries")
        }
        return try pieces.map { piece in
            do {
                return try JSONDecoder().decode(HAREntry.self, from: data[piece])
            } catch {
                throw Failure.malformed("an entry isn't one of a request and its response")
            }
        }
    }
}
