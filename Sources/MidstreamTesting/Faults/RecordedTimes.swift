public import Foundation
internal import MidstreamCore

extension ServiceTime {
    /// A record of traffic that can't be used, and why.
    public struct UnusableRecord: Error, Hashable, CustomStringConvertible {
        /// What is wrong, in a sentence.
        public let description: String
    }

    /// The times that a server took in a record of real traffic, as browsers and proxies save it: an HTTP archive (HAR 1.2), of each entry
    /// the time from the end of the request to the first byte of the response (`timings.wait`).
    ///
    /// Entries for which that isn't known (-1) are left out, those without an answer (status 0), and those that a cache answered
    /// (`_fromCache`): the server never saw them.
    ///
    /// - Parameters:
    ///   - archive: The file; at most 256 MiB.
    ///   - matches: Of which URLs; all by default.
    /// - Throws: ``UnusableRecord`` when it isn't such a file, when a time is none, and when no entry is left.
    public static func recorded(in archive: Data, of matches: (String) -> Bool = { _ in true }) throws -> ServiceTime {
        guard archive.count <= 256 << 20 else { throw UnusableRecord(description: "The archive is larger than 256 MiB.") }
        let entries: [HTTPArchive.Entry]
        do {
            // Some that write it begin with a byte order mark.
            let text = archive.starts(with: [0xEF, 0xBB, 0xBF]) ? archive.dropFirst(3) : archive
            entries = try JSONDecoding(of: nil, named: "This").decode(HTTPArchive.self, from: Data(text), by: nil).log.entries
        } catch let error as HTTPError {
            throw UnusableRecord(description: error.message)
        }
        var times: [Duration] = []
        for (number, entry) in entries.enumerated() where matches(entry.request.url) {
            let milliseconds = entry.timings.wait
            guard milliseconds != -1, entry._fromCache == nil, entry.response?.status != 0 else { continue }
            guard milliseconds >= 0, milliseconds <= 86_400_000 else {
                throw UnusableRecord(description: "Entry \(number) has waited \(milliseconds) ms, which is no time of a day.")
            }
            times.append(.nanoseconds(Int64((milliseconds * 1_000_000).rounded())))
        }
        guard !times.isEmpty else { throw UnusableRecord(description: "No entry of the archive has a time that is asked for.") }
        return .samples(times)
    }
}

/// What is read of an HTTP archive. Errors have its name.
private struct HTTPArchive: Decodable {
    struct Log: Decodable {
        let entries: [Entry]
    }

    struct Entry: Decodable {
        struct Request: Decodable {
            let url: String
        }

        struct Response: Decodable {
            /// 0: there was none.
            let status: Double?
        }

        struct Timings: Decodable {
            /// In milliseconds.
            let wait: Double
        }

        /// Whatever its value is.
        struct Presence: Decodable {
            init(from decoder: any Decoder) throws {}
        }

        let request: Request
        let response: Response?
        let timings: Timings
        let _fromCache: Presence?
    }

    let log: Log
}
