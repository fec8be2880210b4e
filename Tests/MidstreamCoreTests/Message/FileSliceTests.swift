import Foundation
import MidstreamCore
import TestSupport
import Testing

@Suite("Slices of files", .leavesNothing)
struct FileSliceTests {
    private let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }

    private func withFile<Result>(_ work: (URL) async throws -> Result) async throws -> Result {
        let url = temporaryPath("midstream-\(UUID().uuidString)")
        try Data(bytes).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        return try await work(url)
    }

    private static let ranges: [Range<Int64>] = [
        0..<1, 0..<300_000, 299_999..<300_000, 7..<131_079, 131_072..<262_144, 1..<299_999,
    ]

    @Test("a slice has its length, and is read as often as needed", arguments: ranges)
    func slice(range: Range<Int64>) async throws {
        try await withFile { url in
            for body in [HTTPBody.file(url, range: range), .file(try OpenFile(path: url.path), range: range)] {
                #expect(body.length == Int64(range.count) && body.replayability == .replayable && body.filePath == nil)
                for _ in 1...2 {
                    #expect(try await body.collect() == Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]))
                }
            }
        }
    }

    @Test("what can't be read at any offset is refused, and a pipe isn't waited for", arguments: [true, false])
    func noFile(isPipe: Bool) async throws {
        try await withFile { url in
            try FileManager.default.removeItem(at: url)
            if isPipe {
                try #require(mkfifo(url.path, 0o600) == 0)
            } else {
                try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
            }
            let error = await httpError { try await HTTPBody.file(url, range: 0..<1).collect() }
            #expect(error?.code == .bodyUnreadable)
        }
    }

    @Test("an empty range is no body", arguments: [Int64(0), 5, 1 << 40])
    func empty(at offset: Int64) {
        let body = HTTPBody.file(URL(fileURLWithPath: "/nowhere"), range: offset..<offset)
        #expect(body.bytes == [])
    }

    @Test(
        "a file that is too short says so when it is read",
        arguments: [0..<300_001, 300_000..<300_001, 400_000..<400_001, 0..<(.max)] as [Range<Int64>])
    func short(range: Range<Int64>) async throws {
        try await withFile { url in
            let body = HTTPBody.file(url, range: range)
            #expect(body.length == range.upperBound - range.lowerBound)
            let error = await httpError { for try await _ in body {} }
            #expect(error?.code == .bodyUnreadable && error?.message.contains("ends") == true)
        }
    }

    @Test("a file that shrinks after the body was made is too short")
    func shrinking() async throws {
        try await withFile { url in
            let body = HTTPBody.file(url, range: 0..<10)
            #expect(try await body.collect().count == 10)
            try Data([1]).write(to: url)
            #expect(await httpError { try await body.collect() }?.code == .bodyUnreadable)
        }
    }

    @Test("what can't be read is unreadable", arguments: ["/nowhere/at/all", "/"])
    func unreadable(path: String) async {
        let body = HTTPBody.file(URL(fileURLWithPath: path), range: 0..<1)
        #expect(await httpError { try await body.collect() }?.code == .bodyUnreadable)
    }

    @Test("a negative bound is unreadable, however negative", arguments: [-1..<1, .min..<(.max)] as [Range<Int64>])
    func negative(range: Range<Int64>) async {
        let body = HTTPBody.file(URL(fileURLWithPath: "/dev/zero"), range: range)
        #expect(body.length == nil)
        #expect(await httpError { try await body.collect() }?.code == .bodyUnreadable)
    }

    @Test("readings at once don't disturb each other, though they share the open file, whose path is gone")
    func concurrent() async throws {
        let file = try await withFile { try OpenFile(path: $0.path) }
        let body = HTTPBody.file(file, range: 10..<290_010)
        try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<8 { group.addTask { try await body.collect() } }
            for try await read in group { #expect(read == Array(bytes[10..<290_010])) }
        }
    }

    @Test("a file is closed with the last body over it")
    func closing() async throws {
        weak var released: OpenFile?
        try await withFile { url in
            let file = try OpenFile(path: url.path)
            released = file
            let body = HTTPBody.file(file, range: 0..<10)
            for try await _ in body { break }
        }
        #expect(released == nil)
    }
}
