internal import Foundation
internal import Interception
internal import MidstreamCore

extension ResponseCache {
    /// Sends what isn't answered from the store, and forgets what it makes wrong (RFC 9111 §4.4).
    func send(_ request: HTTPRequest, _ next: Next, _ clock: any Clock<Duration>) async throws -> HTTPResponse {
        let key = CacheKey(url: NormalizedURL.text(request.urlText))
        let sent = store.removals.permit()
        let requestTime = options.now()
        var response = try await next(request)
        let isCurrent = sent.holds(for: key)
        let urls = Invalidation.urls(after: request, response)
        for url in urls { await forget(url, on: clock) }
        // Its own removal doesn't concern it.
        let permit = store.removals.permit()
        if !urls.isEmpty {
            request.note("forgot what was stored for \(urls.map { URLText.redacted($0) }.joined(separator: ", "))")
        }
        if Invalidation.clearsOrigin(response) {
            await forgetAll(origin: HTTPOrigin(request.urlText)?.description ?? "", on: clock)
            request.note("forgot what was stored for the origin, as the server wants")
        }
        response.cacheStatus = CacheStatus(forward: .method)
        guard isCurrent, sent.holds(forOriginOf: key),
            let errand = await storingErrand(request, response, next.identity(of: request), clock)
        else { return response }
        let exchange = CacheExchange(
            errand: errand, validation: nil, response: response, requestTime: requestTime,
            responseTime: options.now(), permit: permit, isForeign: isForeign(response, to: errand, next))
        return await stored(exchange).response
    }

    /// The errand by which the response to a POST is stored as one to a GET: it says that it is that, and for how long (RFC 9110
    /// §9.3.3).
    private func storingErrand(
        _ request: HTTPRequest, _ response: HTTPResponse, _ identity: WireIdentity, _ clock: any Clock<Duration>
    ) async -> CacheErrand? {
        guard request.method == .post, response.status == .ok, request.cache != .noStore,
            !CacheControl(request.headers.values(.cacheControl)).contains(.noStore),
            let location = response.headers.values(.contentLocation).first,
            let url = URLText.resolve(location: location, from: request.urlText),
            NormalizedURL.text(url) == NormalizedURL.text(request.urlText)
        else { return nil }
        return CacheErrand(
            request, .plain, await lookUp(request, identity, on: clock), forward: .method, reason: "a POST", clock: clock,
            mayValidate: false)
    }

    /// Sends a `HEAD`, and updates what is stored by what it says (RFC 9111 §4.3.5).
    func sendHead(_ errand: CacheErrand, _ next: Next) async throws -> HTTPResponse {
        let requestTime = options.now()
        var response = try await next(errand.request)
        response.cacheStatus = CacheStatus(forward: errand.forward)
        guard response.status == .ok, errand.lookup.isOwn, var entry = errand.lookup.match, entry.head.status == .ok,
            !isForeign(response, to: errand, next)
        else { return response }
        if entry.head.differs(from: response) {
            entry.head = entry.head.invalidated
            errand.request.note("what is stored has changed on the server")
        } else {
            entry.head = entry.head.freshened(
                by: response, to: errand.request, requestTime: requestTime, responseTime: options.now(), rules: rules,
                fingerprint: errand.lookup.fingerprint)
            errand.request.note("what is stored is as the server says, fresh for \(ttl(of: entry.head)) s")
        }
        let updated = entry
        _ = await ask(for: errand.request, on: errand.clock) { [store] in try await store.update(updated) }
        return response
    }

    /// Validates an entry while its stale response is read: as a call of its own, one per entry at a time. What comes of it is added to the
    /// trace of the call that has been answered.
    func validateInBackground(_ entry: CacheEntry, _ errand: CacheErrand, _ next: Next) {
        guard let call = next.call, validating.withLock({ $0.insert(entry.id).inserted }) else { return }
        let (apart, limit) = next.apart(from: call, timeout: errand.request.timeout)
        var request = errand.request.asNewCall()
        for name in [HTTPHeaders.Name.range, .ifRange, .ifNoneMatch, .ifModifiedSince] { request.headers.remove(name) }
        request.onInterim = nil
        var lookup = errand.lookup
        lookup.forgetBodies()
        let validated = CacheErrand(request, .plain, lookup, forward: .stale, reason: "stale", clock: errand.clock)
        // Not the position, which would hold the client.
        let (recorder, pass) = (call.recorder, next.position.pass)
        let hasBegun = call.owner.background.start { [self] in
            await ChainPosition.local.withValue(apart.position) {
                do {
                    let status = try await TimeLimit(limit, on: validated.clock).run(error: { _ in .timedOut() }) {
                        let response = try await self.fetch(validated, apart).response
                        for try await _ in response.body {}
                        return response.cacheStatus ?? CacheStatus(forward: .stale)
                    }
                    let event = CallEvents.CacheOutcome(status, "asked the server meanwhile")
                    recorder?.remark(event.description, event, pass: pass)
                } catch {
                    recorder?.remark("failed to ask the server meanwhile: \(TraceRecorder.text(of: error))", nil, pass: pass)
                }
            }
            validating.withLock { _ = $0.remove(entry.id) }
        }
        if !hasBegun { validating.withLock { _ = $0.remove(entry.id) } }
    }
}
