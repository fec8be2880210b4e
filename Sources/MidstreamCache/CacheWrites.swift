internal import Foundation
internal import Interception
internal import MidstreamCacheStore
internal import MidstreamCore

extension ResponseCache {
    /// Sends what isn't answered from the store, and forgets what it makes wrong (RFC 9111 §4.4).
    func send(_ request: HTTPRequest, _ next: Next, _ clock: any Clock<Duration>) async throws -> HTTPResponse {
        let key = CacheKey(url: NormalizedURL.text(request.urlText))
        let sent = store.removals.permit()
        let requestTime = options.now()
        // Somebody else may have logged in when the response is there.
        let identity = request.method == .post ? next.identity(of: request) : WireIdentity()
        var response = try await next(request)
        var told = store.removals.told
        var isCurrent = sent.holds(for: key)
        let urls = Invalidation.urls(after: request, response)
        for url in urls { told += await forget(url, on: clock) }
        // Its own removals don't concern it, unless they fail: then the response isn't used. Others' meanwhile may be of its URL, too.
        let permit = store.removals.permit()
        isCurrent = isCurrent && store.removals.told == told
        if !urls.isEmpty {
            request.note("forgot what was stored for \(urls.map { URLText.redacted($0) }.joined(separator: ", "))")
        }
        await clear(after: request, response, on: clock)
        response.cacheStatus = CacheStatus(forward: .method)
        guard isCurrent, sent.holds(forOriginOf: key),
            let miss = await storableMiss(request, response, identity, clock)
        else { return response }
        let fetched = FetchedResponse(
            miss: miss, response: response, requestTime: requestTime, responseTime: options.now(), permit: permit,
            isForeign: isForeign(response, to: miss, next))
        return await stored(fetched).response
    }

    /// Forgets all of an origin where it wants that, whatever becomes of the response that says so.
    nonisolated(nonsending) func clear(
        after request: HTTPRequest, _ response: HTTPResponse, on clock: any Clock<Duration>
    ) async {
        guard Invalidation.clearsOrigin(response) else { return }
        await forgetAll(origin: HTTPOrigin(request.urlText)?.description ?? "", on: clock)
        request.note("forgot what was stored for the origin, as the server wants")
    }

    /// The miss of a `GET` as whose response that to a `POST` is stored, if `Content-Location` names its URL (RFC 9110 §9.3.3).
    private func storableMiss(
        _ request: HTTPRequest, _ response: HTTPResponse, _ identity: WireIdentity, _ clock: any Clock<Duration>
    ) async -> CacheMiss? {
        guard request.method == .post, response.status == .ok, request.cache != .noStore, !request.asksAnotherHost,
            !CacheControl(request.headers.values(.cacheControl)).contains(.noStore),
            let location = response.headers.values(.contentLocation).first,
            let url = URLText.resolve(location: location, from: request.urlText),
            NormalizedURL.text(url) == NormalizedURL.text(request.urlText)
        else { return nil }
        let reason = MissReason(forward: .method, text: "a POST")
        return CacheMiss(request, .plain, await lookUp(request, identity, on: clock), reason, .fetch(reason), on: clock)
    }

    /// Sends a `HEAD`, and updates the stored response by the one that comes (RFC 9111 §4.3.5).
    func sendHead(_ miss: CacheMiss, _ next: Next) async throws -> HTTPResponse {
        let requestTime = options.now()
        var response: HTTPResponse
        do {
            response = try await next(miss.request)
        } catch {
            return try await staleResponse(insteadOf: error, miss)
        }
        await clear(after: miss.request, response, on: miss.clock)
        if case .stale(let answer) = rules.decide(on: response, to: miss, isForeign: false, at: options.now()),
            let stale = await staleResponse(answer, insteadOf: response, miss)
        {
            return stale
        }
        let status = CacheStatus(forward: miss.reason.forward)
        response.cacheStatus = status
        note(miss, status, "the server was asked")
        guard response.status == .ok, miss.lookup.isOwn, let entry = miss.lookup.match, entry.head.status == .ok,
            !isForeign(response, to: miss, next)
        else { return response }
        if entry.head.differs(from: response) {
            miss.request.note("what is stored has changed on the server")
            await update(entry.with(entry.head.invalidated), miss)
            return response
        }
        let head = entry.head.freshened(
            by: response, to: miss.request, requestTime: requestTime, responseTime: options.now(), rules: rules,
            fingerprint: miss.lookup.fingerprint, mayProveVersion: entry.mayProveVersion)
        guard rules.mayKeep(head, changedBy: response, to: miss.request) else { return response }
        miss.request.note("what is stored is as the server says, fresh for \(ttl(of: head)) s")
        await update(entry.with(head), miss)
        return response
    }

    /// Whether an entry is validated behind its stale response: by one validation at a time, and by none while all places of the client are
    /// taken.
    ///
    /// - Returns: Also the place in which ``validateInBackground(_:_:_:_:for:at:on:)`` has to begin it; nil: it doesn't begin.
    func turnToValidate(_ entry: CacheEntry, for call: Call) -> (isValidated: Bool, place: Int?) {
        validating.withLock { validating in
            if validating.contains(entry.id) { return (true, nil) }
            guard let place = call.owner.background.takePlace() else { return (false, nil) }
            validating.insert(entry.id)
            return (true, place)
        }
    }

    /// Validates an entry while its stale response is read (RFC 5861 §3): as a call of its own. Its outcome is added to the trace of the call
    /// that has been answered.
    @inline(never)
    func validateInBackground(
        _ entry: CacheEntry, _ request: HTTPRequest, _ lookup: CacheLookup, _ next: Next, for call: Call, at place: Int,
        on clock: any Clock<Duration>
    ) {
        let (detached, limit) = next.detached(from: call, timeout: request.timeout)
        let askedRange = request.method == .get ? request.headers[.range] : nil
        var request = request.asNewCall()
        request.method = .get
        for name in [HTTPHeaders.Name.range, .ifRange, .ifNoneMatch, .ifModifiedSince] { request.headers.remove(name) }
        // The whole is wanted, whatever part of it was answered; what isn't there isn't fetched by a validation.
        if !entry.isWhole, let first = entry.ranges.first?.lowerBound {
            request.headers[.range] = askedRange ?? "bytes=\(first)-\(first)"
        }
        let demand = entry.isWhole ? .plain : CacheDemand(request)
        request.onInterim = nil
        let lookup = lookup.withoutBodies
        let reason = MissReason(forward: .stale, text: Reuse.Reason.stale.rawValue)
        let miss = CacheMiss(
            request, demand, lookup, reason, rules.miss(reason, .get, demand, lookup), on: clock, isInBackground: true)
        // Not the position, which would hold the client.
        let (recorder, pass) = (call.recorder, next.position.pass)
        call.owner.background.start(at: place) { [self] in
            let observation = detached.position.call?.observation
            observation?.begin(miss.request)
            await ChainPosition.local.withValue(detached.position) {
                do {
                    let response = try await TimeLimit(limit, on: clock).run(error: { _ in .timedOut() }) {
                        let response: HTTPResponse
                        do { response = try await self.fetch(miss, detached).response } catch {
                            self.noteUnanswered(miss)
                            throw error
                        }
                        // Credentials are made anew for who waits for the answer.
                        if response.status == .unauthorized { await self.update(entry.with(entry.head.invalidated), miss) }
                        // Nobody else reads it.
                        if response.cacheStatus?.isStored == true {
                            for try await _ in response.body {}
                        } else {
                            response.body.close()
                        }
                        return response
                    }
                    observation?.end(returning: response)
                    let status = response.cacheStatus ?? CacheStatus(forward: .stale)
                    let event = CallEvent.cacheOutcome(status, "asked the server meanwhile")
                    recorder?.remark(event.description, event, pass: pass)
                } catch {
                    _ = observation?.end(throwing: error, of: miss.request)
                    recorder?.remark("failed to ask the server meanwhile: \(TraceRecorder.text(of: error))", nil, pass: pass)
                }
            }
            validating.withLock { _ = $0.remove(entry.id) }
        }
    }
}
