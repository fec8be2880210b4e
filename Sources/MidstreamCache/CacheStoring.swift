internal import Foundation
internal import Interception
internal import MidstreamCore

extension ResponseCache {
    /// Stores a response while it is read, if it may be.
    nonisolated(nonsending) func stored(_ exchange: CacheExchange) async -> Flight.Landing {
        var exchange = exchange
        let fields = ResponseFields(exchange.response.headers, at: exchange.responseTime)
        guard let (target, head) = judge(&exchange, fields) else { return Flight.Landing(response: exchange.response) }
        _ = exchange.response.takeWhole()
        let (body, shared) = await record(exchange.response.body, target, exchange, sharing: head)
        exchange.response.body = body
        return Flight.Landing(response: exchange.response, shared: shared)
    }

    /// The same for a response that is there as a whole, and a store in memory, in which most come and go: nothing is waited for. Nil when
    /// there is more to it.
    func storedAtOnce(_ exchange: inout CacheExchange) -> Flight.Landing? {
        guard let memory, exchange.response.hasArrived else { return nil }
        // Who fetches for itself alone does so mostly since the last response said it, too.
        if exchange.flight == nil, rules.forbidsPlainly(exchange.response.headers) {
            refuse(&exchange, "no-store")
            return Flight.Landing(response: exchange.response)
        }
        let fields = ResponseFields(exchange.response.headers, at: exchange.responseTime)
        guard !fields.clearsSiteData else { return nil }
        guard let (target, head) = judge(&exchange, fields) else { return Flight.Landing(response: exchange.response) }
        // Where its reader has given it up by now, nobody wants it.
        guard let bytes = exchange.response.takeWhole() else { return Flight.Landing(response: exchange.response) }
        let request = exchange.errand.request
        if Int64(bytes.count) > target.limit {
            report(.tooLarge, request)
        } else if let entry = target.entry(holding: Int64(bytes.count)) {
            do {
                let isStored = try memory.put(bytes, at: target.offset, of: entry) { exchange.permit.holds(for: entry.key) }
                report(isStored ? .stored : .abandoned, request)
            } catch {
                report(.notStored(error), request)
            }
        }
        return Flight.Landing(
            response: exchange.response, shared: head.map { SharedResponse(head: $0, body: .bytes(bytes)) })
    }

    /// Says in the response, and in the trace, why it isn't stored.
    private func refuse(_ exchange: inout CacheExchange, _ obstacle: String) {
        var status = CacheStatus(forward: exchange.errand.forward)
        status.detail = obstacle
        tell(exchange.errand, status, "isn't stored: \(obstacle)")
        exchange.response.cacheStatus = status
    }

    /// Says in the response, and in the trace, whether it is stored.
    ///
    /// - Returns: What is to be stored; nil: nothing. And the head, when others may have the response, too.
    private func judge(
        _ exchange: inout CacheExchange, _ fields: ResponseFields
    ) -> (target: Recording.Target, shared: StoredHead?)? {
        let errand = exchange.errand
        if let obstacle = rules.obstacle(
            to: exchange.response, fields, for: errand.request, isForeign: exchange.isForeign)
        {
            refuse(&exchange, obstacle)
            return nil
        }
        var status = CacheStatus(forward: errand.forward)
        let head = StoredHead(
            exchange.response, fields, to: errand.request, requestTime: exchange.requestTime,
            responseTime: exchange.responseTime, rules: rules, fingerprint: errand.lookup.fingerprint)
        var key = errand.lookup.key
        if fields.hasNoVarySearch, let rule = NoVarySearch(exchange.response.headers) {
            searches.learn(rule, for: key.url)
            if let url = rule.canonical(key.url) { key = CacheKey(url: url, partition: key.partition) }
        }
        guard let target = target(exchange, fields, CacheEntry(key: key, head: head)) else {
            tell(errand, status, "isn't stored: its Content-Range contradicts its length")
            exchange.response.cacheStatus = status
            return nil
        }
        let (seconds, isFresh) = rules.left(of: head, at: exchange.responseTime)
        let left = Self.ttl(seconds)
        status.ttl = left
        status.isStored = true
        tell(errand, status, isFresh ? "stored, fresh for \(left) s" : "stored, to be validated before it is used")
        exchange.response.cacheStatus = status
        let isShared = isFresh && exchange.response.status != .partialContent && errand.demand.range == nil
        return (target, isShared ? head : nil)
    }

    /// Which bytes of which entry a response brings; nil when it contradicts itself.
    private func target(_ exchange: CacheExchange, _ fields: ResponseFields, _ entry: CacheEntry) -> Recording.Target? {
        let response = exchange.response
        var target = Recording.Target(entry: entry, limit: options.maximumEntryBytes)
        let length = fields.contentLength
        guard response.status == .partialContent, let part = ContentRange(response.headers["Content-Range"]) else {
            target.expected = length
            target.length = length
            target.keepsParts = response.status == .ok && entry.head.hasStrongValidator
            return target
        }
        let count = part.range.upperBound - part.range.lowerBound
        if let bytes = response.body.bytes, Int64(bytes.count) != count { return nil }
        target.offset = part.range.lowerBound
        target.expected = count
        target.length = part.length
        target.keepsParts = entry.head.hasStrongValidator
        // More bytes of what is there already.
        if let old = exchange.errand.lookup.match, exchange.errand.lookup.isOwn, old.head.hasStrongValidator,
            old.head.isSameVersion(as: response.headers), old.length == part.length
        {
            target.entry = old
            target.entry.head = freshened(old.head, by: exchange)
        }
        return target
    }

    /// The body, recorded as it is read; what is in memory is stored at once.
    nonisolated(nonsending) private func record(
        _ body: HTTPBody, _ target: Recording.Target, _ exchange: CacheExchange, sharing head: StoredHead?
    ) async -> (HTTPBody, SharedResponse?) {
        let errand = exchange.errand
        if let bytes = body.bytes {
            if target.expected ?? 0 <= target.limit { await store(bytes, target, exchange) }
            return (body, head.map { SharedResponse(head: $0, body: .bytes(bytes)) })
        }
        guard let arriving = body.incoming else { return (body, nil) }
        let recording = await recording(target, exchange)
        let source: any IncomingBody = recording.map { RecordedBody(arriving, $0) } ?? arriving
        guard let head, let flight = exchange.flight else { return (.incoming(source, length: body.length), nil) }
        let key = errand.lookup.key
        let shared = SharedBody(
            source, length: body.length, keptBytes: min(options.maximumEntryBytes, Self.keptBytes)
        ) { [weak self, weak flight] in
            // The flight holds the body.
            if let self, let flight { board.end(key, flight, now: options.now()) }
        }
        guard let reader = shared.join() else { return (.incoming(source, length: body.length), nil) }
        return (.incoming(reader, length: body.length), SharedResponse(head: head, body: .arriving(shared)))
    }

    /// Up to how many bytes of what is arriving are kept for those who join.
    private static let keptBytes: Int64 = 8 << 20

    /// Stores bytes that are there already: by one write.
    nonisolated(nonsending) private func store(
        _ bytes: [UInt8], _ target: Recording.Target, _ exchange: CacheExchange
    ) async {
        let request = exchange.errand.request
        guard Int64(bytes.count) <= target.limit else { return report(.tooLarge, request) }
        guard let entry = target.entry(holding: Int64(bytes.count)), exchange.permit.holds(for: entry.key) else { return }
        guard let writer = await writer(target, exchange) else { return }
        do {
            do {
                if !bytes.isEmpty { try await writer.write(bytes) }
            } catch {
                await writer.abandon()
                throw error
            }
            let isStored = try await writer.commit(entry) { [permit = exchange.permit] in permit.holds(for: entry.key) }
            if !isStored { await writer.abandon() }
            report(isStored ? .stored : .abandoned, request)
        } catch {
            report(.notStored(error), request)
        }
    }

    nonisolated(nonsending) private func recording(_ target: Recording.Target, _ exchange: CacheExchange) async -> Recording? {
        // Not the errand: its fetch holds the body that is recorded.
        let request = exchange.errand.request
        if let length = target.expected, length > target.limit { return nil }
        guard let writer = await writer(target, exchange) else { return nil }
        return Recording(target, writer: writer, permit: exchange.permit) { [weak self] in self?.report($0, request) }
    }

    nonisolated(nonsending) private func writer(
        _ target: Recording.Target, _ exchange: CacheExchange
    ) async -> (any CacheWriter)? {
        await ask(for: exchange.errand.request, on: exchange.errand.clock) { [store] in
            try await store.writer(for: target.entry, at: target.offset)
        }
    }

    private func report(_ outcome: Recording.Outcome, _ request: HTTPRequest) {
        switch outcome {
        case .stored: count { $0.stored += 1 }
        case .notStored(let error): storeFailed(error, request)
        case .tooLarge: request.note("isn't stored: larger than an entry may be")
        case .abandoned: break
        }
    }

    func tell(_ errand: CacheErrand, _ status: CacheStatus, _ text: @autoclosure () -> String) {
        errand.request.record(CallEvents.CacheOutcome(status, "\(errand.reason); \(text())"))
    }
}

extension ResponseCache {
    /// The stored response after the server said that it is right (RFC 9111 §4.3.4); nil when its body isn't there any more.
    func freshened(_ exchange: CacheExchange) async -> Flight.Landing? {
        let errand = exchange.errand
        guard var entry = entry(validatedBy: exchange) else { return nil }
        entry.head = freshened(entry.head, by: exchange)
        let control = rules.control(of: entry.head)
        let updated = entry
        if !control.contains(.noStore), !exchange.isForeign {
            _ = await ask(for: errand.request, on: errand.clock) { [store] in try await store.update(updated) }
        }
        guard var response = await answer(errand.request, with: entry, errand.demand, on: errand.clock) else { return nil }
        count { $0.validations += 1 }
        takeOver(exchange.response, into: &response)
        var status = CacheStatus(forward: errand.forward, ttl: ttl(of: entry.head))
        status.forwardStatus = .notModified
        tell(errand, status, "the server says that it is still right, fresh for \(ttl(of: entry.head)) s")
        response.cacheStatus = status
        let shared =
            rules.reuse(entry.head, for: .plain, at: exchange.responseTime).isFresh && errand.demand.range == nil
            && !exchange.isForeign
        return Flight.Landing(
            response: response,
            shared: shared ? response.body.bytes.map { SharedResponse(head: updated.head, body: .bytes($0)) } : nil)
    }

    private func freshened(_ head: StoredHead, by exchange: CacheExchange) -> StoredHead {
        head.freshened(
            by: exchange.response, to: exchange.errand.request, requestTime: exchange.requestTime,
            responseTime: exchange.responseTime, rules: rules, fingerprint: exchange.errand.lookup.fingerprint)
    }

    /// Gives a response that is made of what is stored the properties of the one that just came. Cookies of that are new, and for its
    /// request alone where the cache keeps none.
    private func takeOver(_ came: HTTPResponse, into response: inout HTTPResponse) {
        response.isFromCache = !came.headers.contains(.setCookie)
        response.version = came.version
        response.metrics = came.metrics
        response.request = came.request
        guard !response.isFromCache, !response.headers.contains(.setCookie) else { return }
        for cookie in came.headers.values(.setCookie) { response.headers.add(.setCookie, cookie) }
    }

    /// Which of the stored responses a 304 speaks of: that with its strong tag, else with its tag, else the one that was asked about.
    private func entry(validatedBy exchange: CacheExchange) -> CacheEntry? {
        let lookup = exchange.errand.lookup
        let variants = lookup.variants.filter { $0.head.tag != nil || $0.head.lastModified != nil }
        if let tag = exchange.response.headers.values("ETag").first.flatMap({ EntityTag($0) }) {
            let tagged = variants.first { $0.head.tag?.isStronglyEqual(to: tag) ?? false }
            if let entry = tagged ?? variants.first(where: { $0.head.tag?.isWeaklyEqual(to: tag) ?? false }) { return entry }
        }
        if variants.count == 1 { return variants[0] }
        return lookup.isOwn ? lookup.match : nil
    }

    /// The caller's own condition was true; if it was about a stored response, that is right, too.
    func noteUnmodified(_ exchange: CacheExchange) async {
        guard exchange.errand.lookup.isOwn, var entry = exchange.errand.lookup.match, let tag = entry.head.tag,
            !exchange.isForeign,
            let other = exchange.response.headers.values("ETag").first.flatMap({ EntityTag($0) }), tag.isStronglyEqual(to: other)
        else { return }
        entry.head = freshened(entry.head, by: exchange)
        let updated = entry
        _ = await ask(for: exchange.errand.request, on: exchange.errand.clock) { [store] in try await store.update(updated) }
    }

    /// What is stored with the rest that has come (RFC 9111 §3.4); nil when they aren't of the same bytes.
    func completed(_ exchange: CacheExchange) async -> Flight.Landing? {
        let errand = exchange.errand
        guard let (entry, missing) = exchange.validation?.completes, let length = entry.length, !exchange.isForeign,
            let part = ContentRange(exchange.response.headers["Content-Range"]), part.range.lowerBound == missing,
            part.length == length, entry.head.isSameVersion(as: exchange.response.headers),
            let wanted = errand.demand.range == nil ? 0..<length : errand.demand.range?.resolved(length: length),
            part.range.upperBound == wanted.upperBound,
            let beginning = await body(of: entry, wanted.lowerBound..<missing, errand.request, errand.clock)
        else { return nil }
        var target = Recording.Target(
            entry: entry, offset: missing, expected: part.range.upperBound - missing, length: length, keepsParts: true,
            limit: max(0, options.maximumEntryBytes - entry.storedBytes))
        target.entry.head = freshened(entry.head, by: exchange)
        let (rest, _) = await record(exchange.response.body, target, exchange, sharing: nil)
        let count = wanted.upperBound - wanted.lowerBound
        let body = HTTPBody.incoming(JoinedBody(beginning, rest), length: count)
        let isPart = errand.demand.range != nil
        var response = made(isPart ? .partialContent : .ok, of: target.entry.head, body, errand.request) { fields in
            if isPart { StoredFields.describe(wanted, of: length, in: &fields) } else { fields[.contentLength] = "\(count)" }
        }
        takeOver(exchange.response, into: &response)
        var status = CacheStatus(forward: .partial, ttl: ttl(of: target.entry.head))
        status.forwardStatus = .partialContent
        status.isStored = true
        errand.request.record(CallEvents.CacheOutcome(status, "a part is stored; the server gave the rest"))
        response.cacheStatus = status
        return Flight.Landing(response: response)
    }
}

extension Reuse {
    var isFresh: Bool { if case .fresh = self { true } else { false } }
}

extension CacheDemand {
    /// That of a request that says nothing.
    static let plain = CacheDemand(HTTPRequest("http://plain.invalid/"))
}
