internal import Interception

/// The limits that a call would have; nil: none.
package struct CallLimits: Sendable {
    package var timeout: Duration?
    package var deadline: Duration?
    package var maxRetries: Int
    package var redirects: RedirectPolicy

    package init(timeout: Duration?, deadline: Duration?, maxRetries: Int, redirects: RedirectPolicy) {
        self.timeout = timeout
        self.deadline = deadline
        self.maxRetries = maxRetries
        self.redirects = redirects
    }
}

extension Pipeline {
    /// Asks each element what it would do to a request, in the order in which they would run, without sending anything.
    ///
    /// - Parameters:
    ///   - start: The request as the client hands it to the pipeline.
    ///   - given: The request as the client was given it.
    ///   - limits: Those of the client, for what the request leaves open.
    package func rehearse(
        _ start: HTTPRequest, given: HTTPRequest, limits: CallLimits, as call: (Rehearsal) -> Call
    ) async throws -> Explanation {
        var request = start
        var notes: [String?] = []
        var snapshots = [RequestSnapshot(start)]
        var answerer: String?
        for (place, element) in elements.enumerated() where answerer == nil {
            do {
                notes.append(try await Self.plan(element.interceptor, for: &request, as: call(rehearsal(at: place))))
            } catch let answer as AnsweredHere {
                notes.append(answer.description)
                answerer = element.name
            }
            snapshots.append(RequestSnapshot(request))
        }
        // A value is as secret before an interceptor marks it as afterwards.
        let marked = Set(snapshots.flatMap(\.headers.sensitiveNames))
        let steps = notes.indices.map { place in
            Explanation.Step(
                name: elements[place].name, stage: elements[place].place.stage, scope: elements[place].scope,
                changes: snapshots[place + 1].changes(since: snapshots[place], secret: marked), note: notes[place])
        }
        return Explanation(
            clientChanges: snapshots[0].changes(since: RequestSnapshot(given), secret: marked), steps: steps,
            request: try exchange.checked(request, of: call(rehearsal(at: elements.count))), transport: legend.transport,
            timeout: request.timeout ?? limits.timeout, deadline: request.deadline ?? limits.deadline,
            maxRetries: request.maxRetries ?? limits.maxRetries, redirects: request.redirects.over(limits.redirects),
            answeredBy: answerer)
    }

    /// Asks those who come after the stage `call` whose a request will be, and what they would make of it.
    package func foresee(_ start: HTTPRequest, as call: (Rehearsal) -> Call) async throws -> Foresight {
        var request = start
        var identity = WireIdentity()
        for (place, element) in elements.enumerated() where element.isPersonal {
            let rehearsed = call(rehearsal(at: place))
            let own = Self.identity(by: element.interceptor, of: request, in: rehearsed)
            do {
                let note = try await Self.plan(element.interceptor, for: &request, as: rehearsed)
                // An answer to the wrong user is worse than one that isn't shared.
                let isOpen = own == .unknown && note != nil || rehearsed.rehearsal?.summary != nil
                if isOpen { return .unknown(element.name) }
            } catch is AnsweredHere {
                return .unknown(element.name)
            }
            if own != .unknown { identity.add(own) }
        }
        return .request(request, identity)
    }

    private static func identity(
        by interceptor: any HTTPInterceptor, of request: HTTPRequest, in call: Call
    ) -> RequestIdentity {
        ChainPosition.local.withValue(ChainPosition(run: call)) { interceptor.identity(of: request) }
    }

    private func rehearsal(at place: Int) -> Rehearsal {
        let exchange = exchange
        return Rehearsal { request in exchange.identities.identity(of: request, from: place + 1) }
    }

    /// Asks an interceptor what it would do, and says what it would have sent to find out.
    private static func plan(
        _ interceptor: any HTTPInterceptor, for request: inout HTTPRequest, as call: Call
    ) async throws -> String? {
        var planned = request
        var position = ChainPosition(run: call)
        position.isRehearsal = true
        do {
            let note = try await ChainPosition.local.withValue(position) { try await interceptor.plan(&planned) }
            request = planned
            return call.rehearsal?.summary.map { [note, $0].compactMap { $0 }.joined(separator: "; ") } ?? note
        } catch {
            // Without an answer it may throw anything, and that says nothing about what it would do with one.
            guard let summary = call.rehearsal?.summary, !(error is CancellationError) else { throw error }
            return "\(summary); what it would do then isn't known"
        }
    }
}
