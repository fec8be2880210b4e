internal import Foundation
internal import MidstreamCore

extension CacheEntry {
    /// The entry as bytes, all but its key, so that a store may keep it by a hash of that alone.
    public var encoded: [UInt8] {
        var writer = EntryWriter()
        writer.add(UInt64(Self.format))
        writer.add(id)
        writer.add(UInt64(head.status.code))
        writer.add(head.requestTime.timeIntervalSinceReferenceDate.bitPattern)
        writer.add(head.responseTime.timeIntervalSinceReferenceDate.bitPattern)
        writer.add(UInt64(head.receivedAge))
        writer.add(head.isInvalidated ? 1 : 0)
        writer.add(length.map { UInt64($0) } ?? .max)
        writer.add(UInt64(parts.ranges.count))
        for range in parts.ranges {
            writer.add(UInt64(range.lowerBound))
            writer.add(UInt64(range.upperBound))
        }
        writer.add(UInt64(head.selecting.fields.count))
        for field in head.selecting.fields {
            writer.add(Array(field.name.utf8))
            writer.add(field.value == nil ? 0 : 1)
            writer.add(Array((field.value ?? "").utf8))
        }
        writer.add(head.fields.bytes)
        return writer.bytes
    }

    /// The entry that bytes stand for; nil when they aren't what ``encoded`` gave.
    public convenience init?(_ bytes: [UInt8], key: CacheKey) {
        var reader = EntryReader(bytes)
        guard reader.number() == UInt64(Self.format), let id = reader.number(), let status = reader.number(), status < 1000,
            let requestTime = reader.time(), let responseTime = reader.time(), let age = reader.number(),
            age <= UInt64(CacheControl.longest), let isInvalidated = reader.number(), let length = reader.number(),
            let rangeCount = reader.number(), rangeCount <= UInt64(bytes.count)
        else { return nil }
        var parts = StoredRanges()
        for _ in 0..<rangeCount {
            guard let start = reader.number(), let end = reader.number(), start < end, end <= UInt64(Int64.max),
                parts.last.map({ UInt64($0.upperBound) < start }) ?? true
            else { return nil }
            parts.insert(Int64(start)..<Int64(end))
        }
        guard let fieldCount = reader.number(), fieldCount <= UInt64(bytes.count) else { return nil }
        var selecting: [SelectingFields.Field] = []
        for _ in 0..<fieldCount {
            guard let name = reader.bytes(), let hasValue = reader.number(), let value = reader.bytes() else { return nil }
            selecting.append(.init(name: text(name), value: hasValue == 0 ? nil : text(value)))
        }
        guard let lines = reader.bytes(), reader.isAtEnd else { return nil }
        var fields = HTTPHeaders.FieldBuffer()
        lines.withUnsafeBytes { lines in
            for line in lines.split(separator: UInt8(ascii: "\n")) { fields.append(line: UnsafeRawBufferPointer(rebasing: line)) }
        }
        let head = StoredHead(
            status: HTTPStatus(Int(status)), fields: HTTPHeaders(fields),
            requestTime: requestTime, responseTime: responseTime, receivedAge: Int(age),
            selecting: SelectingFields(fields: selecting), isInvalidated: isInvalidated != 0)
        self.init(id: id, key: key, head: head, parts: parts, length: Int64(exactly: length))
    }

    private static let format = 1
}

private func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

/// Numbers of eight bytes, and bytes with their count before them.
private struct EntryWriter {
    package private(set) var bytes: [UInt8] = []

    package mutating func add(_ number: UInt64) { withUnsafeBytes(of: number.littleEndian) { bytes += $0 } }

    package mutating func add(_ content: [UInt8]) {
        add(UInt64(content.count))
        bytes += content
    }
}

private struct EntryReader {
    private let all: [UInt8]
    private var place = 0

    package init(_ bytes: [UInt8]) { all = bytes }

    package var isAtEnd: Bool { place == all.count }

    package mutating func number() -> UInt64? {
        guard all.count - place >= 8 else { return nil }
        defer { place += 8 }
        return UInt64(littleEndian: all.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place, as: UInt64.self) })
    }

    /// Nil also for what is no time, with which nobody could reckon.
    package mutating func time() -> Date? {
        guard let bits = number() else { return nil }
        let seconds = Double(bitPattern: bits)
        return seconds.isFinite ? Date(timeIntervalSinceReferenceDate: seconds) : nil
    }

    package mutating func bytes() -> ArraySlice<UInt8>? {
        guard let count = number(), count <= UInt64(all.count - place) else { return nil }
        defer { place += Int(count) }
        return all[place..<(place + Int(count))]
    }
}
