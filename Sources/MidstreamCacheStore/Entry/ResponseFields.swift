package import Foundation
package import MidstreamCore

/// The fields of a response that matter to caches, read in one pass and in place: looking up each field, or making strings that are read
/// once, takes longer than all the rest of storing.
package struct ResponseFields: Sendable {
    /// `Cache-Control`, all of them.
    package private(set) var control = CacheControl()
    package private(set) var vary: [String] = []
    /// `Connection`, but for `keep-alive`, which names no field.
    package private(set) var connection: [String] = []
    // Of those that have one value the first field counts.
    /// The seconds of `Age`.
    package private(set) var age = 0
    package private(set) var date: Date?
    /// Long past for something that is no date.
    package private(set) var expiry: Date?
    package private(set) var lastModified: Date?
    package private(set) var tag: EntityTag?
    package private(set) var contentLength: Int64?
    private var present: UInt32 = 0

    private static let names: [HTTPHeaders.Name] = [
        .cacheControl, .vary, .connection, .age, .date, .expires, .lastModified, .etag, .contentLength, .contentRange,
        .contentEncoding, "No-Vary-Search", "Clear-Site-Data", .setCookie,
    ]
    private static let table = FieldNameTable(names + StoredFields.droppedNames.filter { !names.contains($0) })

    /// - Parameter now: What dates with years of two digits are seen from.
    package init(_ headers: HTTPHeaders, at now: Date) {
        headers.forEachField(in: Self.table) { place, value in
            let isFirst = !has(place)
            present |= 1 << UInt32(place)
            switch place {
            case 0: control.read(value)
            case 1: vary.append(String(fieldBytes: value))
            case 2: if !Self.isKeepAlive(value) { connection.append(String(fieldBytes: value)) }
            case 3 where isFirst: age = StoredHead.seconds(age: String(fieldBytes: value))
            case 4 where isFirst: date = HTTPDate.parse(value, now: now)
            case 5 where isFirst: expiry = HTTPDate.parse(value, now: now) ?? .distantPast
            case 6 where isFirst: lastModified = HTTPDate.parse(value, now: now)
            case 7 where isFirst: tag = EntityTag(String(fieldBytes: value))
            case 8 where isFirst: contentLength = ByteNumber.read(value)
            default: break
            }
        }
    }

    /// Whether there is a validator, valid or not.
    package var hasValidator: Bool { has(6) || has(7) }
    package var hasContentRange: Bool { has(9) }
    package var hasContentEncoding: Bool { has(10) }
    package var hasNoVarySearch: Bool { has(11) }
    package var clearsSiteData: Bool { has(12) }
    package var setsCookie: Bool { has(13) }

    /// Whether there is a field that is never stored.
    package var hasDropped: Bool { has(2) || has(3) || present >> 14 != 0 }

    private func has(_ place: Int) -> Bool { present & 1 << UInt32(place) != 0 }

    private static func isKeepAlive(_ value: UnsafeBufferPointer<UInt8>) -> Bool {
        let name: StaticString = "keep-alive"
        return value.count == name.utf8CodeUnitCount
            && name.withUTF8Buffer { name in zip(value, name).allSatisfy { $0.asciiLowercased == $1 } }
    }
}
