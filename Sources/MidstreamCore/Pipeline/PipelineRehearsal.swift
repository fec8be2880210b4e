internal import Interception

extension Pipeline {
    /// Plans a request element by element, in the order in which they would run, without sending anything. `start` is the given request as
    /// the client hands it to the pipeline; the client's limits and redirects hold where it sets none.
    func rehearse(
        _ start: HTTPRequest, given: HTTPRequest, limits: RequestLimits, redirects: RedirectPolicy, redaction: Redaction,
        as call: (Rehearsal) -> Call
    ) async throws -> Explanation {
        var request = start
        var plans: [RequestPlan] = []
        var snapshots = [RequestSnapshot(start)]
        var answerer: String?
        for (place, element) in elements.enumerated() where answerer == nil {
            let plan = try await Self.plan(element.interceptor, for: &request, as: call(rehearsal(at: place)))
            if case .answers = plan { answerer = element.name }
            plans.append(plan)
            snapshots.append(RequestSnapshot(request))
        }
        // A value is as secret before an interceptor marks it as afterwards.
        let marked = Set(snapshots.flatMap(\.headers.sensitiveNames))
        let steps = plans.indices.map { place in
            Explanation.Step(
                name: elements[place].name, stage: elements[place].place.stage, scope: elements[place].scope,
                changes: snapshots[place + 1].changes(since: snapshots[place], secret: marked, redaction),
                plan: plans[place])
        }
        var (limits, first) = (request.limits.over(limits), start.limits.over(limits))
        // One that an interceptor prolongs comes too late.
        if let deadline = first.deadline { limits.deadline = min(limits.deadline ?? deadline, deadline) }
        return Explanation(
            clientChanges: snapshots[0].changes(since: RequestSnapshot(given), secret: marked, redaction), steps: steps,
            request: try exchange.checked(request, of: call(rehearsal(at: elements.count))),
            transport: legend.pipeline.transport, timeout: limits.timeout, deadline: limits.deadline,
            maxRetries: limits.maxRetries ?? 0,
            redirects: request.redirects.over(redirects), answeredBy: answerer, redaction: redaction)
    }

    /// The request that the interceptors after stage `call` would make of `start`, and whose it would be.
    package func planned(_ start: HTTPRequest, as call: (Rehearsal) -> Call) async throws -> PlannedRequest {
        var request = start
        var identity = WireIdentity()
        for (place, element) in elements.enumerated() where element.place > .arbiter && element.isPersonal {
            let rehearsed = call(rehearsal(at: place))
            let own = Self.identity(by: element.interceptor, of: request, in: rehearsed)
            // An answer to the wrong user is worse than one that isn't shared.
            switch try await Self.plan(element.interceptor, for: &request, as: rehearsed) {
            case .known: break
            case .unknown where own != .unknown && rehearsed.rehearsal?.summary == nil: break
            case .unknown, .answers: return .unknown(element.name)
            }
            if own != .unknown { identity.add(own) }
        }
        return .known(request, identity)
    }

    private static func identity(
        by interceptor: any HTTPInterceptor, of request: HTTPRequest, in call: Call
    ) -> RequestIdentity {
        ChainPosition.local.withValue(ChainPosition(run: call)) { interceptor.identity(of: request) }
    }

    private func rehearsal(at place: Int) -> Rehearsal {
        let exchange = exchange
        return Rehearsal { request in exchange.identity(of: request, from: place + 1) }
    }

    /// An interceptor's plan; `.unknown` when it tried to send something, which the text names.
    private static func plan(
        _ interceptor: any HTTPInterceptor, for request: inout HTTPRequest, as call: Call
    ) async throws -> RequestPlan {
        var planned = request
        var position = ChainPosition(run: call)
        position.isRehearsal = true
        do {
            let plan = try await ChainPosition.local.withValue(position) { try await interceptor.plan(&planned) }
            request = planned
            guard let summary = call.rehearsal?.summary else { return plan }
            return .unknown([plan.text, summary].compactMap { $0 }.joined(separator: "; "))
        } catch {
            // Its error follows from the refusal, and a real call would have had an answer.
            guard let summary = call.rehearsal?.summary, !(error is CancellationError) else { throw error }
            return .unknown("\(summary); what it would do then isn't known")
        }
    }
}
