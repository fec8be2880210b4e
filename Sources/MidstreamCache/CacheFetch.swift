internal import Foundation
internal import Interception
internal import MidstreamCacheStore
internal import MidstreamCore

/// A response that has come, and what it answers.
struct FetchedResponse: Sendable {
    let miss: CacheMiss
    var response: HTTPResponse
    let requestTime: Date
    let responseTime: Date
    /// Holds until something is removed that concerns the response.
    let permit: CacheRemovals.Permit
    /// The fetch that others share; nil: nobody does.
    var fetch: SharedFetch?
    /// Whether it may belong to another user than the key names.
    var isForeign = false
}

extension ResponseCache {
    /// Sends a request, and does with the response what is decided by it.
    nonisolated(nonsending) func fetch(
        _ miss: CacheMiss, _ next: Next, for shared: SharedFetch? = nil
    ) async throws -> SharedFetch.Outcome {
        let (permit, requestTime) = (shared?.permit ?? store.removals.permit(), options.now())
        let response: HTTPResponse
        do {
            response = try await next(miss.decision.conditional(miss.request))
        } catch {
            // Of those who share it each looks for itself what may answer in its place; behind a stale answer nobody needs another.
            guard shared == nil, !miss.isInBackground else { throw error }
            return SharedFetch.Outcome(response: try await staleResponse(insteadOf: error, miss))
        }
        let fetched = FetchedResponse(
            miss: miss, response: response, requestTime: requestTime, responseTime: options.now(), permit: permit,
            fetch: shared, isForeign: isForeign(response, to: miss, next))
        switch received(fetched) {
        case .complete(let outcome): return outcome
        case .records(let fetched, let target, let head): return await recorded(fetched, target, sharing: head)
        case .settles(let fetched, let decision): return try await settled(fetched, decision, next)
        }
    }

    /// What is left to be done with a response.
    private enum Receipt {
        case complete(SharedFetch.Outcome)
        /// The store is waited for.
        indirect case records(FetchedResponse, Recording.Target, sharing: StoredHead?)
        indirect case settles(FetchedResponse, ResponseDecision)
    }

    /// Does with a response what needs no wait.
    @inline(never)
    private func received(_ response: FetchedResponse) -> Receipt {
        let decision = rules.decide(
            on: response.response, to: response.miss, isForeign: response.isForeign, at: response.responseTime)
        let fields = ResponseFields(response.response.headers, at: response.responseTime)
        guard case .store = decision, !fields.clearsSiteData else { return .settles(response, decision) }
        var fetched = response
        guard let (target, head) = judge(&fetched, fields) else {
            return .complete(SharedFetch.Outcome(response: fetched.response))
        }
        return storedNow(&fetched, target, sharing: head).map(Receipt.complete) ?? .records(fetched, target, sharing: head)
    }

    @inline(never)
    nonisolated(nonsending) private func settled(
        _ fetched: FetchedResponse, _ decision: ResponseDecision, _ next: Next
    ) async throws -> SharedFetch.Outcome {
        let (miss, response) = (fetched.miss, fetched.response)
        let opened: Result<SharedFetch.Outcome?, any Error>
        do { opened = .success(try await openStored(fetched, decision)) } catch { opened = .failure(error) }
        // What it confirms or completes has been opened by now, or can't be.
        await clear(after: miss.request, response, on: miss.clock)
        if let outcome = try opened.get() { return outcome }
        switch decision {
        case .freshen: return try await sendAgain(fetched, "nothing that it could validate is there any more", next)
        case .combine: return try await sendAgain(fetched, "what was stored is gone", next)
        case .sendAgain(let reason): return try await sendAgain(fetched, reason, next)
        case .stale(let answer):
            if miss.isInBackground {
                note(miss, CacheStatus(forward: miss.reason.forward), "the server answered \(response.status)")
                return SharedFetch.Outcome(response: response)
            }
            if let stale = await staleResponse(answer, insteadOf: response, miss) {
                return SharedFetch.Outcome(response: stale)
            }
        case .pass(let confirmed?):
            let entry = freshened(confirmed, by: fetched)
            if mayKeep(entry, fetched) { await update(entry, miss) }
        case .pass(nil), .store: break
        }
        return await stored(fetched)
    }

    /// Opens what a response confirms or completes; nil: it does neither, or what was stored is gone.
    nonisolated(nonsending) private func openStored(
        _ fetched: FetchedResponse, _ decision: ResponseDecision
    ) async throws -> SharedFetch.Outcome? {
        switch decision {
        case .freshen(let entry):
            fetched.response.body.close()
            return await freshened(entry, fetched)
        case .combine(let part, let wanted):
            return try await combined(part, wanted, fetched).map { SharedFetch.Outcome(response: $0) }
        case .sendAgain, .stale, .pass, .store: return nil
        }
    }

    /// Sends the request as it is, since what is stored was of no use.
    @inline(never)
    nonisolated(nonsending) private func sendAgain(
        _ fetched: FetchedResponse, _ reason: String, _ next: Next
    ) async throws -> SharedFetch.Outcome {
        fetched.response.body.close()
        fetched.miss.request.note("asks again without conditions: \(reason)")
        return try await fetch(fetched.miss.unconditional, next, for: fetched.fetch)
    }

    /// Whether a response may belong to another user than the key names: its request was sent with credentials that aren't part of the
    /// key.
    func isForeign(_ response: HTTPResponse, to miss: CacheMiss, _ next: Next) -> Bool {
        // Neither the key nor the fields that `Vary` names have the cookies that a challenge has set behind the cache.
        if response.request.cookieChanges != miss.request.cookieChanges { return true }
        guard options.partition == nil else { return false }
        let identity = miss.lookup.identity
        // Somebody else may have logged in meanwhile.
        if next.identity(of: miss.request) != identity { return true }
        guard !identity.users.isEmpty else { return response.request.hasSecrets(beyond: miss.request) }
        if rules.isShared { return true }
        return !identity.isCertain && response.request.hasSecrets(beyond: miss.request)
    }

    /// A stale response in the place of an error (RFC 5861 §4), or that error.
    @inline(never)
    nonisolated(nonsending) func staleResponse(insteadOf error: any Error, _ miss: CacheMiss) async throws -> HTTPResponse {
        guard let failure = error as? HTTPError, failure.isNoAnswer, let answer = rules.staleIfError(miss, at: options.now()),
            let response = await staleResponse(answer, insteadOf: "\(failure.code)", miss)
        else { throw error }
        return response
    }

    /// A stale response in the place of one that is an error; nil: what was stored is gone.
    nonisolated(nonsending) func staleResponse(
        _ answer: StoredAnswer, insteadOf response: HTTPResponse, _ miss: CacheMiss
    ) async -> HTTPResponse? {
        guard var stale = await staleResponse(answer, insteadOf: "\(response.status)", miss) else { return nil }
        response.body.close()
        takeOver(response, into: &stale)
        return stale
    }

    nonisolated(nonsending) private func staleResponse(
        _ answer: StoredAnswer, insteadOf error: String, _ miss: CacheMiss
    ) async -> HTTPResponse? {
        // What the store failed to remove while the server was asked is still there.
        if known.failed?.remaining([answer.entry]).isEmpty == true { return nil }
        // Where no body is read, nothing else would show that it has been removed while the server was asked.
        if !answer.form.hasBody {
            let stored = await entries(for: answer.entry.key, miss.request, miss.clock)
            guard stored.contains(where: { $0.id == answer.entry.id }) else { return nil }
        }
        guard var response = await response(answer, miss.request, on: miss.clock, at: options.now()) else { return nil }
        count { $0.stale += 1 }
        let status = CacheStatus(forward: miss.reason.forward, ttl: Self.ttl(answer.left), detail: "stale-if-error")
        miss.request.record(
            CallEvent.cacheOutcome(
                status, "the stale response answers in the place of an error: \(error)", from: store.name))
        response.cacheStatus = status
        return response
    }

    nonisolated(nonsending) func update(_ entry: CacheEntry, _ miss: CacheMiss) async {
        _ = await ask(for: miss.request, on: miss.clock) { [store] in try await store.update(entry) }
    }
}

extension HTTPError {
    /// Whether it means that the server can't be had just now.
    fileprivate var isNoAnswer: Bool {
        switch code {
        case .invalidRequest, .bodyNotReplayable, .bodyUnreadable, .bodyTooLarge, .unsupported, .explaining, .deadlineExceeded,
            .authentication, .decoding:
            false
        default: true
        }
    }
}
