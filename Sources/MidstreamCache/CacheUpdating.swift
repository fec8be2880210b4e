internal import Foundation
internal import MidstreamCacheStore
internal import MidstreamCore

extension ResponseCache {
    /// The stored response after the server confirmed it (RFC 9111 §4.3.4); nil when its body isn't there any more.
    nonisolated(nonsending) func freshened(_ entry: CacheEntry, _ fetched: FetchedResponse) async -> SharedFetch.Outcome? {
        let miss = fetched.miss
        let entry = freshened(entry, by: fetched)
        let isKept = mayKeep(entry, fetched)
        if isKept { await update(entry, miss) }
        let now = options.now()
        guard let form = rules.form(of: entry, miss.request.method, miss.demand, at: now) else { return nil }
        let (left, isFresh) = rules.left(of: entry.head, at: now)
        let answer = StoredAnswer(entry: entry, form: form, left: left)
        guard var response = await response(answer, miss.request, on: miss.clock, at: now) else { return nil }
        count { $0.validations += 1 }
        takeOver(fetched.response, into: &response)
        let status = CacheStatus(forward: miss.reason.forward, forwardStatus: .notModified, ttl: Self.ttl(left))
        note(miss, status, "the server says that it is still right, fresh for \(Self.ttl(left)) s")
        response.cacheStatus = status
        guard isFresh, !entry.head.isInvalidated, miss.demand.range == nil, isKept,
            let bytes = response.body.bytes
        else { return SharedFetch.Outcome(response: response) }
        return SharedFetch.Outcome(response: response, shared: SharedResponse(head: entry.head, body: .bytes(bytes)))
    }

    /// The entry with the head that a response without a body gives it.
    func freshened(_ entry: CacheEntry, by fetched: FetchedResponse) -> CacheEntry {
        entry.with(
            entry.head.freshened(
                by: fetched.response, to: fetched.miss.request, requestTime: fetched.requestTime,
                responseTime: fetched.responseTime, rules: rules, fingerprint: fetched.miss.lookup.fingerprint,
                mayProveVersion: entry.mayProveVersion))
    }

    /// Whether an entry may be stored as a response has changed it, and others may have it.
    func mayKeep(_ entry: CacheEntry, _ fetched: FetchedResponse) -> Bool {
        !fetched.isForeign && rules.mayKeep(entry.head, changedBy: fetched.response, to: fetched.miss.request)
    }

    /// Gives a response that is made of a stored one the properties of the one that came. The cookies of that one are new, and for its
    /// request alone where the cache keeps none.
    func takeOver(_ came: HTTPResponse, into response: inout HTTPResponse) {
        response.confirmation = came.headers
        response.version = came.version
        response.metrics = came.metrics
        response.request = came.request
        response.readRepresentationDigests = came.readRepresentationDigests
        guard !response.headers.contains(.setCookie) else { return }
        for cookie in came.headers.values(.setCookie) { response.headers.add(.setCookie, cookie) }
    }

    /// The stored bytes with the missing ones, which are stored while they are read (RFC 9111 §3.4), if they may be; nil when the stored ones
    /// can't be read.
    nonisolated(nonsending) func combined(
        _ part: MissingPart, _ wanted: Range<Int64>, _ fetched: FetchedResponse
    ) async throws -> HTTPResponse? {
        let miss = fetched.miss
        guard let length = part.entry.length,
            let beginning = await body(of: part.entry, wanted.lowerBound..<part.start, miss.request, miss.clock)
        else { return nil }
        let entry = freshened(part.entry, by: fetched)
        let isPart = miss.demand.range != nil
        let isUnchecked = isPart && part.entry.isWholeUnchecked(with: part.start..<wanted.upperBound, of: fetched.response)
        let rest = part.start..<wanted.upperBound
        let fits = rest.upperBound - rest.lowerBound <= room(for: rest, in: entry)
        let isKept = fits && !isUnchecked && mayKeep(entry, fetched)
        let told = isPart ? [] : fetched.response.representationDigests
        var body = await joined(beginning, part, wanted, fetched, storing: isKept && told.isEmpty ? entry : nil)
        if !told.isEmpty { body = try await checked(body, by: told, fetched, storing: isKept ? entry : nil) }
        return combinedResponse(body, wanted, of: length, entry, fetched, isKept: isKept)
    }

    /// The response with the stored bytes and the new ones. Apart, as is what makes its body, so that what one needs isn't kept while another
    /// waits.
    @inline(never)
    private func combinedResponse(
        _ body: HTTPBody, _ wanted: Range<Int64>, of length: Int64, _ entry: CacheEntry, _ fetched: FetchedResponse, isKept: Bool
    ) -> HTTPResponse {
        let miss = fetched.miss
        let isPart = miss.demand.range != nil
        var response = made(
            isPart ? .partialContent : .ok, of: entry.head, body, miss.request, at: options.now()
        ) { fields in
            if isPart { StoredFields.describe(wanted, of: length, in: &fields) } else { fields[.contentLength] = "\(length)" }
        }
        takeOver(fetched.response, into: &response)
        let status = CacheStatus(
            forward: .partial, forwardStatus: .partialContent, ttl: ttl(of: entry.head), isStored: isKept)
        miss.request.record(.cacheOutcome(status, "a part is stored; the server gave the rest"))
        response.cacheStatus = status
        return response
    }

    /// The stored bytes, and then those that are arriving.
    ///
    /// - Parameter entry: The entry that these are added to while they are read; nil: none is.
    @inline(never)
    nonisolated(nonsending) private func joined(
        _ beginning: HTTPBody, _ part: MissingPart, _ wanted: Range<Int64>, _ fetched: FetchedResponse, storing entry: CacheEntry?
    ) async -> HTTPBody {
        let count = wanted.upperBound - part.start
        var rest = fetched.response.body
        if let entry {
            let target = Recording.Target(
                entry: entry, asked: fetched.miss.lookup.key, offset: part.start, expected: count, length: entry.length,
                keepsParts: true, limit: count)
            rest = await record(rest, target, fetched, sharing: nil).0
        }
        return .joined(beginning, rest, length: wanted.upperBound - wanted.lowerBound, arriving: count)
    }

    /// A body joined of parts, checked against the digests of the whole, by which nobody could check the parts. What is stored is forgotten
    /// before the reader learns that it is another.
    ///
    /// - Parameter entry: The entry of the parts. When all has been found right, and not before, a new one takes its place; nil: none does.
    @inline(never)
    nonisolated(nonsending) private func checked(
        _ joined: HTTPBody, by told: [ExpectedDigest], _ fetched: FetchedResponse, storing entry: CacheEntry?
    ) async throws -> HTTPBody {
        let (key, clock) = (fetched.miss.lookup.key, fetched.miss.clock)
        let doubtful = try told.reduce(joined) { try $0.checked(against: $1, toldBy: "the server") }
            .forgotten { await self.forget(key.url, on: clock) }
        guard let entry else { return doubtful }
        let target = Recording.Target(
            entry: CacheEntry(key: entry.key, head: entry.head), asked: key, expected: joined.length, length: joined.length,
            keepsParts: true, present: entry.storedBytes, limit: options.maximumEntryBytes)
        return await record(doubtful, target, fetched, sharing: nil).0
    }
}
