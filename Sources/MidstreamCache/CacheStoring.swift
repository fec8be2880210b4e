internal import Foundation
internal import MidstreamCacheStore
internal import MidstreamCore

extension ResponseCache {
    /// Stores a response while it is read, if it may be stored (RFC 9111 §3).
    nonisolated(nonsending) func stored(_ response: FetchedResponse) async -> SharedFetch.Outcome {
        var fetched = response
        let fields = ResponseFields(fetched.response.headers, at: fetched.responseTime)
        guard let (target, head) = judge(&fetched, fields) else { return SharedFetch.Outcome(response: fetched.response) }
        if let outcome = storedNow(&fetched, target, sharing: head) { return outcome }
        return await recorded(fetched, target, sharing: head)
    }

    /// The response, if its body has come and the store takes that at once; nil: the store is to be waited for.
    func storedNow(
        _ fetched: inout FetchedResponse, _ target: Recording.Target, sharing head: StoredHead?
    ) -> SharedFetch.Outcome? {
        guard let bytes = fetched.response.takeWhole() else { return nil }
        let permit = fetched.permit
        if let entry = entry(of: bytes, target, fetched) {
            do {
                let isCurrent = { target.isCurrent(by: permit) }
                guard let isStored = try store.storeNow(bytes, of: entry, at: target.offset, if: isCurrent) else { return nil }
                report(isStored ? .stored : .abandoned, fetched.miss.request)
            } catch {
                report(.notStored(error), fetched.miss.request)
            }
        }
        return SharedFetch.Outcome(
            response: fetched.response, shared: head.map { SharedResponse(head: $0, body: .bytes(bytes)) })
    }

    nonisolated(nonsending) func recorded(
        _ fetched: FetchedResponse, _ target: Recording.Target, sharing head: StoredHead?
    ) async -> SharedFetch.Outcome {
        var response = fetched.response
        let (body, shared) = await record(response.body, target, fetched, sharing: head)
        response.body = body
        return SharedFetch.Outcome(response: response, shared: shared)
    }

    /// Notes in the response and in the trace whether it is stored.
    ///
    /// - Returns: The entry to write to, and the head if others may have the response, too. Nil: it isn't stored.
    @inline(never)
    func judge(
        _ fetched: inout FetchedResponse, _ fields: ResponseFields
    ) -> (target: Recording.Target, shared: StoredHead?)? {
        let miss = fetched.miss
        var status = CacheStatus(forward: miss.reason.forward)
        defer { fetched.response.cacheStatus = status }
        if let obstacle = rules.obstacle(
            to: fetched.response, fields, for: miss.request, isForeign: fetched.isForeign)
        {
            status.detail = obstacle
            note(miss, status, "isn't stored: \(obstacle)")
            return nil
        }
        let head = StoredHead(
            fetched.response, fields, to: miss.request, requestTime: fetched.requestTime,
            responseTime: fetched.responseTime, rules: rules, fingerprint: miss.lookup.fingerprint)
        var key = miss.lookup.key
        if fields.hasNoVarySearch, let rule = NoVarySearch(fetched.response.headers) {
            learn(rule, for: key.url)
            if let url = rule.canonical(key.url) { key = CacheKey(url: url, partition: key.partition) }
        }
        let brought = target(fetched, fields, CacheEntry(key: key, head: head))
        guard let target = brought, !target.isWorthless else {
            let obstacle = brought == nil ? "its Content-Range contradicts its length" : "a whole response is stored"
            note(miss, status, "isn't stored: \(obstacle)")
            return nil
        }
        let (seconds, isFresh) = rules.left(of: head, at: fetched.responseTime)
        let left = Self.ttl(seconds)
        status.ttl = left
        if target.expected ?? 0 > target.limit {
            note(miss, status, "isn't stored: larger than an entry may be")
        } else if !target.isCurrent(by: fetched.permit) {
            note(miss, status, "isn't stored: removed meanwhile")
        } else {
            status.isStored = true
            note(miss, status, isFresh ? "stored, fresh for \(left) s" : "stored, to be validated before it is used")
        }
        let isShared = isFresh && fetched.response.status != .partialContent && miss.demand.range == nil
        return (target, isShared ? head : nil)
    }

    /// Which bytes of which entry a response brings; nil when it contradicts itself.
    private func target(_ fetched: FetchedResponse, _ fields: ResponseFields, _ entry: CacheEntry) -> Recording.Target? {
        let response = fetched.response
        var target = Recording.Target(entry: entry, asked: fetched.miss.lookup.key, limit: options.maximumEntryBytes)
        let length = fields.contentLength
        let count = response.body.bytes.map { Int64($0.count) }
        // A whole response, stale as it may be, can still stand in for the server, and a part of a newer one can't.
        target.replacesWhole = fetched.miss.lookup.variants.contains { old in
            old.isWhole && !old.head.isInvalidated && entry.replaces(old)
        }
        guard response.status == .partialContent,
            case .bytes(let part, let total)? = response.headers[.contentRange].flatMap({ ContentRange($0) })
        else {
            target.expected = length ?? count
            target.length = length
            target.keepsParts = response.status == .ok && entry.head.hasStrongValidator
            return target
        }
        let announced = part.upperBound - part.lowerBound
        guard count ?? announced == announced else { return nil }
        target.isPart = true
        target.offset = part.lowerBound
        target.expected = announced
        target.length = total
        target.keepsParts = entry.head.hasStrongValidator
        // More bytes of what is there already. What nobody checks stays a part, in the place of the other.
        if let old = fetched.miss.lookup.match, fetched.miss.lookup.isOwn, !old.isWhole, old.head.hasStrongValidator,
            old.head.isSameVersion(as: response.headers), old.length == total,
            !old.isWholeUnchecked(with: part, of: response)
        {
            target.entry = freshened(old, by: fetched)
            target.limit = room(for: part, in: old)
        }
        return target
    }

    /// How many bytes of a part an entry takes, beside those that are there already.
    func room(for part: Range<Int64>, in entry: CacheEntry) -> Int64 {
        let others = entry.adding(part).storedBytes - (part.upperBound - part.lowerBound)
        return max(0, options.maximumEntryBytes - others)
    }

    /// The body, recorded as it is read; what is in memory is stored at once.
    nonisolated(nonsending) func record(
        _ body: HTTPBody, _ target: Recording.Target, _ fetched: FetchedResponse, sharing head: StoredHead?
    ) async -> (HTTPBody, SharedResponse?) {
        if let bytes = body.bytes {
            await store(bytes, target, fetched)
            return (body, head.map { SharedResponse(head: $0, body: .bytes(bytes)) })
        }
        guard let arriving = body.incoming else { return (body, nil) }
        let recording = await recording(target, fetched)
        let source: any IncomingBody = recording.map { RecordedBody(arriving, $0) } ?? arriving
        guard let head, let fetch = fetched.fetch else { return (.incoming(source, length: body.length), nil) }
        let shared = SharedBody(
            source, length: body.length, keptBytes: min(options.maximumEntryBytes, Self.keptBytes)
        ) { [weak self, weak fetch] in
            // The fetch holds the body.
            if let self, let fetch { collapsed.end(fetch) }
        }
        guard let share = shared.join() else { return (.incoming(source, length: body.length), nil) }
        return (share, SharedResponse(head: head, body: .arriving(shared)))
    }

    /// Up to how many bytes of what is arriving are kept for those who join.
    private static let keptBytes: Int64 = 8 << 20

    /// The entry that bytes become; nil: they are too many, or worth nothing.
    private func entry(of bytes: [UInt8], _ target: Recording.Target, _ fetched: FetchedResponse) -> CacheEntry? {
        // The fields have announced more.
        guard target.expected ?? 0 <= target.limit else { return nil }
        guard Int64(bytes.count) <= target.limit else {
            report(.tooLarge, fetched.miss.request)
            return nil
        }
        return target.entry(holding: Int64(bytes.count))
    }

    /// Stores bytes that are there already: by one write.
    nonisolated(nonsending) private func store(
        _ bytes: [UInt8], _ target: Recording.Target, _ fetched: FetchedResponse
    ) async {
        guard entry(of: bytes, target, fetched) != nil, target.isCurrent(by: fetched.permit) else { return }
        let recording = await recording(target, fetched)
        if !bytes.isEmpty { await recording?.write(bytes) }
        await recording?.finish()
    }

    nonisolated(nonsending) private func recording(_ target: Recording.Target, _ fetched: FetchedResponse) async -> Recording? {
        // Not the miss: its fetch holds the body that is recorded.
        let request = fetched.miss.request
        if let length = target.expected, length > target.limit { return nil }
        guard let writer = await writer(target, fetched) else { return nil }
        return Recording(target, writer: writer, permit: fetched.permit) { [weak self] in self?.report($0, request) }
    }

    nonisolated(nonsending) private func writer(
        _ target: Recording.Target, _ fetched: FetchedResponse
    ) async -> (any CacheWriter)? {
        let clock = fetched.miss.clock
        let writer = await ask(for: fetched.miss.request, on: clock) { [store] in
            try await store.writer(for: target.entry, at: target.offset)
        }
        if store.boundsItsTime { return writer }
        return writer.map { LimitedWriter(writer: $0, limit: TimeLimit(Self.storeLimit, on: clock)) }
    }

    private func report(_ outcome: Recording.Outcome, _ request: HTTPRequest) {
        switch outcome {
        case .stored: count { $0.stored += 1 }
        case .notStored(let error): storeFailed(error, request)
        case .tooLarge: request.note("isn't stored: larger than an entry may be")
        case .abandoned: break
        }
    }

    func note(_ miss: CacheMiss, _ status: CacheStatus, _ text: @autoclosure () -> String) {
        miss.request.record(.cacheOutcome(status, "\(miss.reason.text); \(text())"))
    }

    /// Notes why the server was asked by a request that gets no answer: it is a lookup as well, and while the server is gone there would be none
    /// but hits.
    func noteUnanswered(_ miss: CacheMiss) { note(miss, CacheStatus(forward: miss.reason.forward), "no answer came") }
}
