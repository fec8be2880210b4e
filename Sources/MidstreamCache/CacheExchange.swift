internal import Foundation
internal import Interception
internal import MidstreamCore

/// A request that goes further than the cache. One object, since it is handed to whatever has to do with its response.
final class CacheErrand: Sendable {
    let request: HTTPRequest
    let demand: CacheDemand
    let lookup: CacheLookup
    /// Why it goes further.
    let forward: CacheStatus.Forward
    /// In words.
    let reason: String
    let clock: any Clock<Duration>
    /// Whether conditions of the cache's own may be added.
    let mayValidate: Bool

    init(
        _ request: HTTPRequest, _ demand: CacheDemand, _ lookup: CacheLookup, forward: CacheStatus.Forward, reason: String,
        clock: any Clock<Duration>, mayValidate: Bool = true
    ) {
        self.request = request
        self.demand = demand
        self.lookup = lookup
        self.forward = forward
        self.reason = reason
        self.clock = clock
        self.mayValidate = mayValidate
    }

    /// The same without conditions of the cache's own.
    var unconditional: CacheErrand {
        CacheErrand(request, demand, lookup, forward: forward, reason: reason, clock: clock, mayValidate: false)
    }
}

extension ResponseCache {
    typealias Next = Interception.Next<HTTPRequest, HTTPResponse>

    /// Asks the server, and stores what it answers.
    ///
    /// - Parameter flight: That of which this is the fetch; nil: nobody shares it.
    nonisolated(nonsending) func fetch(
        _ errand: CacheErrand, _ next: Next, for flight: Flight? = nil
    ) async throws -> Flight.Landing {
        let (permit, requestTime) = (flight?.permit ?? store.removals.permit(), options.now())
        // Most have nothing that could be validated.
        let validation = errand.lookup.variants.isEmpty ? nil : CacheValidation(errand, rules)
        let response: HTTPResponse
        do {
            response = try await next(validation?.request ?? errand.request)
        } catch {
            return try await landing(insteadOf: error, errand)
        }
        switch received(response, to: errand, validation, at: requestTime, permit, flight, next) {
        case .isLanded(let landing): return landing
        case .isUnsettled(let exchange): return try await settle(exchange, next)
        }
    }

    private enum Receipt {
        case isLanded(Flight.Landing)
        /// There is more to it. Rare, and large.
        indirect case isUnsettled(CacheExchange)
    }

    /// Most responses are here as a whole, and nothing is known that they would have to be compared with.
    @inline(never)
    private func received(
        _ response: HTTPResponse, to errand: CacheErrand, _ validation: CacheValidation?, at requestTime: Date,
        _ permit: CacheRemovals.Permit, _ flight: Flight?, _ next: Next
    ) -> Receipt {
        var exchange = CacheExchange(
            errand: errand, validation: validation, response: response, requestTime: requestTime, responseTime: options.now(),
            permit: permit, flight: flight, isForeign: isForeign(response, to: errand, next))
        if exchange.errand.lookup.match == nil, exchange.response.status == .ok, let landing = storedAtOnce(&exchange) {
            return .isLanded(landing)
        }
        return .isUnsettled(exchange)
    }

    /// Whether a response may be somebody else's than the key says: its request was sent with credentials that aren't part of the key.
    func isForeign(_ response: HTTPResponse, to errand: CacheErrand, _ next: Next) -> Bool {
        guard options.partition == nil else { return false }
        let identity = errand.lookup.identity
        guard !identity.users.isEmpty else { return response.request.hasSecrets(beyond: errand.request) }
        // Somebody else may have logged in meanwhile.
        if rules.isShared || next.identity(of: errand.request) != identity { return true }
        return !identity.isCertain && response.request.hasSecrets(beyond: errand.request)
    }

    /// A stale response in the place of an error, or that error.
    @inline(never)
    nonisolated(nonsending) func landing(
        insteadOf error: any Error, _ errand: CacheErrand
    ) async throws -> Flight.Landing {
        guard let failure = error as? HTTPError, failure.isNoAnswer, let landing = await instead(of: "\(failure.code)", errand)
        else { throw error }
        return landing
    }

    nonisolated(nonsending) private func settle(_ exchange: CacheExchange, _ next: Next) async throws -> Flight.Landing {
        let errand = exchange.errand
        let response = exchange.response
        switch response.status.code {
        case 304 where exchange.validation?.isOurs == true:
            response.body.close()
            if let landing = await freshened(exchange) { return landing }
            return try await again(exchange, next, "nothing that it could validate is there any more")
        case 304:
            await noteUnmodified(exchange)
        case 206 where exchange.validation?.completes != nil:
            if let landing = await completed(exchange) { return landing }
            response.body.close()
            return try await again(exchange, next, "what came doesn't fit what is stored")
        case 416 where exchange.validation?.completes != nil:
            response.body.close()
            return try await again(exchange, next, "what is stored doesn't fit what the server has")
        case 500, 502, 503, 504:
            if let landing = await instead(of: "\(response.status)", errand) {
                response.body.close()
                return landing
            }
        default: break
        }
        if Invalidation.clearsOrigin(response) {
            await forgetAll(origin: errand.lookup.key.origin, on: errand.clock)
        }
        return await stored(exchange)
    }

    /// Sends the request as it is, since what is stored was of no use.
    nonisolated(nonsending) private func again(
        _ exchange: CacheExchange, _ next: Next, _ reason: String
    ) async throws -> Flight.Landing {
        exchange.errand.request.note("asks again without conditions: \(reason)")
        return try await fetch(exchange.errand.unconditional, next, for: exchange.flight)
    }

    /// A stale response in the place of an error (RFC 5861 §4).
    private func instead(of error: String, _ errand: CacheErrand) async -> Flight.Landing? {
        guard let entry = errand.lookup.match, rules.mayAnswerOnError(entry.head, for: errand.demand, at: options.now()),
            var response = await answer(errand.request, with: entry, errand.demand, on: errand.clock)
        else { return nil }
        count { $0.stale += 1 }
        let status = CacheStatus(forward: errand.forward, ttl: ttl(of: entry.head), detail: "stale-if-error")
        errand.request.record(
            CallEvents.CacheOutcome(status, "the stale response answers in the place of an error: \(error)"))
        response.cacheStatus = status
        return Flight.Landing(response: response)
    }

    func ttl(of head: StoredHead) -> Int {
        Self.ttl(rules.lifetime(of: head).seconds - rules.age(of: head, at: options.now()))
    }

    /// Seconds as they are told.
    static func ttl(_ seconds: Double) -> Int {
        Int(max(min(seconds, Double(CacheControl.longest)), -Double(CacheControl.longest)).rounded(.down))
    }
}

/// A request of the cache's, and what came of it.
struct CacheExchange: Sendable {
    let errand: CacheErrand
    /// What was added to the request; nil where nothing is known of which one could ask whether it is still right.
    let validation: CacheValidation?
    var response: HTTPResponse
    let requestTime: Date
    let responseTime: Date
    let permit: CacheRemovals.Permit
    /// That of which it is the fetch.
    var flight: Flight?
    /// Whether it may be somebody else's than the key says.
    var isForeign = false
}

/// What the cache adds to a request: conditions by which the server may answer that what is stored is right (RFC 9111 §4.3.1), or that it
/// sends no more than what is missing.
final class CacheValidation: Sendable {
    let request: HTTPRequest
    /// Whether a 304 is the answer to conditions of the cache.
    let isOurs: Bool
    /// The entry of which the rest is asked for, and from where on.
    let completes: (entry: CacheEntry, missing: Int64)?

    init(_ errand: CacheErrand, _ rules: CacheRules) {
        var request = errand.request
        let demand = errand.demand
        guard errand.mayValidate, request.method == .get, !demand.isConditional, demand.use != .reload, demand.ifRange == nil
        else {
            (self.request, isOurs, completes) = (request, false, nil)
            return
        }
        if let (entry, missing, last) = Self.missing(errand) {
            request.headers[.range] = "bytes=\(missing)-\(last.map { "\($0)" } ?? "")"
            request.headers[.ifRange] = entry.head.strongValidator
            (self.request, isOurs, completes) = (request, false, (entry, missing))
            return
        }
        // A part that isn't there can't be had by a validation; and a whole that isn't there neither.
        let usable = errand.lookup.variants.filter { entry in
            guard let range = demand.range, range != .other, entry.head.status == .ok else { return entry.isWhole }
            guard let length = entry.length, let wanted = range.resolved(length: length) else { return false }
            return entry.parts.contains(wanted)
        }
        let tags = usable.compactMap(\.head.tag)
        var seen: Set<EntityTag> = []
        if !tags.isEmpty {
            request.headers[.ifNoneMatch] = tags.filter { seen.insert($0).inserted }.map(\.text).joined(separator: ", ")
        }
        if errand.lookup.isOwn, let match = errand.lookup.match, usable.contains(where: { $0.id == match.id }),
            let modified = match.head.fields.values(.lastModified).first
        {
            request.headers[.ifModifiedSince] = modified
        }
        isOurs = request.headers.contains(.ifNoneMatch) || request.headers.contains(.ifModifiedSince)
        (self.request, completes) = (request, nil)
    }

    /// The entry whose beginning is there of what is asked for, with the first byte that is missing and the last one that is wanted.
    private static func missing(_ errand: CacheErrand) -> (entry: CacheEntry, missing: Int64, last: Int64?)? {
        guard errand.lookup.isOwn, let entry = errand.lookup.match, !entry.isWhole, !entry.head.isInvalidated,
            entry.head.status == .ok, entry.head.hasStrongValidator, let length = entry.length
        else { return nil }
        guard let range = errand.demand.range else {
            return entry.parts.end(from: 0).map { (entry, $0, nil) }
        }
        guard range != .other, let wanted = range.resolved(length: length), !wanted.isEmpty,
            let end = entry.parts.end(from: wanted.lowerBound), end < wanted.upperBound
        else { return nil }
        return (entry, end, wanted.upperBound - 1)
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
