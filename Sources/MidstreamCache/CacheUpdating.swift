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
        var status = CacheStatus(forward: miss.reason.forward, ttl: Self.ttl(left))
        status.forwardStatus = .notModified
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
                responseTime: fetched.responseTime, rules: rules, fingerprint: fetched.miss.lookup.fingerprint))
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
        let target = Recording.Target(
            entry: freshened(part.entry, by: fetched), asked: miss.lookup.key, offset: part.start,
            expected: wanted.upperBound - part.start, length: length, keepsParts: true,
            limit: max(0, options.maximumEntryBytes - part.entry.storedBytes))
        let isPart = miss.demand.range != nil
        let isUnchecked = isPart && part.entry.isWholeUnchecked(with: part.start..<wanted.upperBound, of: fetched.response)
        let isKept = !isUnchecked && mayKeep(target.entry, fetched)
        var rest = fetched.response.body
        if isKept { rest = await record(rest, target, fetched, sharing: nil).0 }
        let count = wanted.upperBound - wanted.lowerBound
        var body = HTTPBody.joined(beginning, rest, length: count, arriving: wanted.upperBound - part.start)
        if !isPart { body = try checked(body, by: miss.request.representationDigests ?? part.told, miss) }
        var response = made(
            isPart ? .partialContent : .ok, of: target.entry.head, body, miss.request, at: options.now()
        ) { fields in
            if isPart { StoredFields.describe(wanted, of: length, in: &fields) } else { fields[.contentLength] = "\(count)" }
        }
        takeOver(fetched.response, into: &response)
        var status = CacheStatus(forward: .partial, ttl: ttl(of: target.entry.head))
        status.forwardStatus = .partialContent
        status.isStored = isKept
        miss.request.record(.cacheOutcome(status, "a part is stored; the server gave the rest"))
        response.cacheStatus = status
        return response
    }

    /// A body joined of parts, checked against the digests of the whole, by which nobody could check the parts. What is stored is forgotten
    /// before the reader learns that it is another.
    private func checked(_ joined: HTTPBody, by told: RepresentationDigests, _ miss: CacheMiss) throws -> HTTPBody {
        let body = try told.all.reduce(joined) { try $0.checked(against: $1, toldBy: "the server") }
        guard let source = body.incoming else { return body }
        let (url, clock) = (miss.lookup.key.url, miss.clock)
        return .incoming(DoubtfulBody(source) { await self.forget(url, on: clock) }, length: joined.length)
    }
}
