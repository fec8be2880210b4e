package import Foundation
internal import Interception
package import MidstreamCore

/// What entries of a cache are found by.
public struct CacheKey: Hashable, Sendable {
    /// The URL, normalised (RFC 3986 §6.2.2–3), without a fragment. What stands behind a `#` names several URLs that are the same to
    /// the server, by its `No-Vary-Search`.
    public let url: String
    /// Whose entries; empty: anybody's. A salted hash or what ``CacheOptions/partition`` gave.
    public let partition: String
    /// Worked out once, since a key is looked up several times.
    private let hash: Int

    /// Makes a key.
    public init(url: String, partition: String = "") {
        self.url = url
        self.partition = partition
        var hasher = Hasher()
        hasher.combine(url)
        if !partition.isEmpty { hasher.combine(partition) }
        hash = hasher.finalize()
    }

    /// Whether both are the same URL's of the same owner, whose text is compared byte by byte.
    public static func == (a: CacheKey, b: CacheKey) -> Bool {
        a.hash == b.hash && a.url == b.url && a.partition.hasSameBytes(as: b.partition)
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(hash) }

    /// Scheme, host and port of the URL, as far as it has them.
    public var origin: String { HTTPOrigin(url)?.description ?? "" }
}

/// A stored response: its head, and which of its bytes are there. One of the variants of its key.
///
/// A class, since a lookup passes it on several times.
public final class CacheEntry: Sendable, Identifiable {
    /// Names the body. A response that is stored anew has another; one that is validated keeps it.
    public let id: UInt64
    /// The key that it is found by.
    public let key: CacheKey
    package let head: StoredHead
    /// Which bytes of the representation are there.
    package let parts: StoredRanges
    /// The length of the representation; nil: not known yet.
    public let length: Int64?
    /// The whole body, if the store returned it with the head.
    package let body: [UInt8]?
    /// The store that returned it, if that is in memory.
    private let source: ObjectIdentifier?

    package init(
        id: UInt64 = nextID(), key: CacheKey, head: StoredHead, parts: StoredRanges = .init(), length: Int64? = nil,
        body: [UInt8]? = nil, source: ObjectIdentifier? = nil
    ) {
        self.id = id
        self.key = key
        self.head = head
        self.parts = parts
        self.length = length
        self.body = body
        self.source = source
    }

    /// An entry of which no byte is there yet, for a response that has just come.
    package convenience init(
        of response: HTTPResponse, to request: HTTPRequest, key: CacheKey, length: Int64?, at now: Date = Date()
    ) {
        let head = StoredHead(
            response, to: request, requestTime: now, responseTime: now, rules: CacheRules(), fingerprint: Fingerprint(salt: []))
        self.init(key: key, head: head, length: length)
    }

    /// A number that no other entry has, nor any of another process with the same store: a random start, counted up and mixed. To ask the
    /// system for random numbers each time costs more than to look the entry up.
    private static func nextID() -> UInt64 {
        lastID.withLock { last in
            last &+= 0x9E37_79B9_7F4A_7C15
            return last
        }.mixed
    }

    private static let lastID = Locked(UInt64.random(in: .min ... .max))

    /// Which bytes of the representation are there, in order.
    public var ranges: [Range<Int64>] { parts.ranges }

    /// How many bytes are there.
    public var storedBytes: Int64 { parts.count }

    /// Whether all bytes are there.
    public var isWhole: Bool { length.map { parts.contains(0..<$0) } ?? false }

    /// Whether it is another of the same key that answers the same requests, so that one takes the place of the other.
    public func replaces(_ other: CacheEntry) -> Bool {
        key == other.key && (id == other.id || head.selecting == other.head.selecting)
    }

    /// Whether another entry makes this one superfluous: it answers the same requests, and either was asked for later and has all bytes if
    /// this one has, or is whole where this one is a part, whichever was asked for later, as long as it isn't known to have changed on the
    /// server. A store doesn't keep this one then.
    ///
    /// Ask it of the entry as the store has it in the end, with the ranges that are there, and within the lock or transaction in which
    /// `isCurrent` of `commit` is called. What was asked for later is told by the clocks of those who asked; a time to come, of a clock that
    /// was put back, doesn't count.
    public func isBehind(_ other: CacheEntry) -> Bool {
        guard id != other.id, replaces(other), other.isWhole || !isWhole else { return false }
        // A whole one, stale as it may be, can still stand in for the server, and a part can't.
        if !isWhole, other.isWhole, !other.head.isInvalidated { return true }
        return other.head.requestTime > head.requestTime && other.head.requestTime <= Date()
    }

    /// Names and values of the fields that choose between the entries of a key: equal ones replace each other (``replaces(_:)``).
    package var variant: [String] { head.selecting.fields.flatMap { [$0.name, $0.value.map { "=\($0)" } ?? ""] } }

    /// The entry of which only these bytes are there.
    package func holding(_ range: Range<Int64>) -> CacheEntry { holding(StoredRanges([range])) }

    /// The entry of which only these bytes are there.
    package func holding(_ parts: StoredRanges, of length: Int64? = nil) -> CacheEntry {
        CacheEntry(id: id, key: key, head: head, parts: parts, length: length ?? self.length)
    }

    /// The entry with these bytes, too, of a representation with this length; nil: the length stays as it is.
    package func adding(_ range: Range<Int64>, of length: Int64? = nil) -> CacheEntry {
        var parts = parts
        parts.insert(range)
        return holding(parts, of: length)
    }

    /// The entry with another head.
    package func with(_ head: StoredHead) -> CacheEntry {
        CacheEntry(id: id, key: key, head: head, parts: parts, length: length, body: body, source: source)
    }

    /// The entry, of which more has been fetched, with the head that its store has by now, if that was asked for later or has been found
    /// to be wrong: what began before doesn't undo it.
    package func keepingLaterHead(of stored: CacheEntry) -> CacheEntry {
        let isLater = stored.head.requestTime > head.requestTime && stored.head.requestTime <= Date()
        return isLater || stored.head.isInvalidated ? with(stored.head) : self
    }

    /// The entry with its whole body, and the store that it is from, if that is in memory.
    package func with(_ body: [UInt8], from store: AnyObject? = nil) -> CacheEntry {
        CacheEntry(
            id: id, key: key, head: head, parts: parts, length: length, body: body, source: store.map { ObjectIdentifier($0) })
    }

    /// The whole body, if this store in memory returned it with the head.
    package func body(from store: AnyObject) -> [UInt8]? { source == ObjectIdentifier(store) ? body : nil }

    /// The entry without its body, to be kept while the server is waited for.
    package var withoutBody: CacheEntry {
        body == nil ? self : CacheEntry(id: id, key: key, head: head, parts: parts, length: length)
    }

    /// About how many bytes the head takes in memory.
    package var headBytes: Int { 200 + head.fields.bytes.count + key.url.utf8.count }
}

extension CacheEntry: CustomStringConvertible, CustomReflectable {
    /// The status and how much of the body is there; no fields.
    public var description: String { "\(head.status), \(storedBytes) of \(length.map { "\($0)" } ?? "?") bytes" }
    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["entry": description]) }
}

extension CacheEntry {
    /// For how many seconds from now on it may be of use: while it is fresh to any cache, and as long after that as its server lets it be
    /// used stale.
    ///
    /// - Parameter longest: How many seconds of the latter count.
    package func usefulSeconds(staleAtMost longest: Double) -> Double {
        let rules = [CacheRules(), CacheRules(isShared: true)]
        let fresh = rules.map { $0.left(of: head, at: Date()).seconds }.max() ?? 0
        let stale = max(head.control.staleWhileRevalidate ?? 0, head.control.staleIfError ?? 0)
        return max(0, min(fresh, 366 * 86_400) + min(Double(stale), longest))
    }
}
