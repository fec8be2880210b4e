internal import Interception
internal import MidstreamCore

/// The server of a simulation, as its clients' transport.
final class SimulatedServer: HTTPTransport {
    /// One request at the server.
    private struct Job {
        let request: HTTPRequest
        let replica: Int
        let answer = Suspension<HTTPResponse>()
    }

    private struct Replica {
        var busy = 0
        var queue = Queue<Job>()
    }

    private struct State {
        var replicas: [Replica]
        var sends = 0
        var buckets: [String: (tokens: Double, at: Duration)] = [:]
    }

    private enum Entry {
        /// A job, and whether it is worked on at once.
        case enters(Job, begins: Bool)
        case answered(HTTPStatus, HTTPHeaders = [:])
    }

    private let model: ServerModel
    private let incidents: [Incidents.Incident]
    private let clock: SimulatedClock
    private let random: SimulatedRandom
    private let state: Locked<State>

    init(_ model: ServerModel, _ incidents: Incidents, on clock: SimulatedClock, _ random: SimulatedRandom) {
        self.model = model
        self.incidents = incidents.all
        self.clock = clock
        self.random = random
        state = Locked(State(replicas: Array(repeating: Replica(), count: model.replicas)))
    }

    /// Requests received.
    var sends: Int { state.withLock { $0.sends } }

    /// Requests queued or in work.
    var load: Int { state.withLock { $0.replicas.reduce(0) { $0 + $1.busy + $1.queue.count } } }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try Task.checkCancellation()
        let effects = current(at: clock.now.offset).map(\.effect.kind)
        for case .connectTimeout(let time) in effects {
            try await clock.pause(for: time)
            throw HTTPError(.timeout, "No connection within \(time).", request: request, phase: .notSent)
        }
        for case .fault(let fault, let share) in effects where share >= 1 || random.share() < share {
            if !fault.isBeforeSending { try await receive(request) }
            return try await FaultedExchange(fault: fault, clock: clock, random: random).run(request) {
                try await answer(to: request)
            }
        }
        try await receive(request)
        return try await answer(to: request)
    }

    /// Counts a request and reads its body, as whoever answers or fails one that has been sent: one that can be read once isn't sent again.
    private func receive(_ request: HTTPRequest) async throws {
        state.withLock { $0.sends += 1 }
        if request.body.bytes == nil { try await request.body.readToEnd() }
    }

    private func current(at now: Duration) -> [Incidents.Incident] { incidents.filter { $0.start <= now && now < $0.end } }

    private func answer(to request: HTTPRequest) async throws -> HTTPResponse {
        switch enter(request, at: clock.now.offset) {
        case .answered(let status, let headers): return HTTPResponse(status: status, headers: headers, request: request)
        case .enters(let job, let begins):
            if begins { begin(job) }
            guard case .value(let response) = await job.answer.wait() else { throw CancellationError() }
            return response
        }
    }

    private func enter(_ request: HTTPRequest, at now: Duration) -> Entry {
        state.withLock { state in
            if let refusal = refusal(of: request, at: now, &state) { return refusal }
            let number = model.replicas == 1 ? 0 : Int(random.next() % UInt64(model.replicas))
            let job = Job(request: request, replica: number)
            if state.replicas[number].busy < model.workers {
                state.replicas[number].busy += 1
                return .enters(job, begins: true)
            }
            guard state.replicas[number].queue.count < model.queue.places else { return .answered(.serviceUnavailable) }
            state.replicas[number].queue.append(job)
            return .enters(job, begins: false)
        }
    }

    private func refusal(of request: HTTPRequest, at now: Duration, _ state: inout State) -> Entry? {
        guard let quota = model.quota else { return nil }
        let tenant = quota.tenant(request)
        var bucket = state.buckets[tenant] ?? (quota.burst, now)
        bucket.tokens = min(quota.burst, bucket.tokens + quota.rate * ((now - bucket.at) / .seconds(1)))
        bucket.at = now
        defer { state.buckets[tenant] = bucket }
        guard bucket.tokens < 1 else {
            bucket.tokens -= 1
            return nil
        }
        let seconds = Int(((1 - bucket.tokens) / quota.rate).rounded(.up))
        return .answered(
            .tooManyRequests, ["Retry-After": "\(max(1, seconds))", "RateLimit": "\"default\";r=0;t=\(max(1, seconds))"])
    }

    private func begin(_ job: Job) {
        let now = clock.now.offset
        var time = model.service.time(random)
        for incident in current(at: now) {
            switch incident.effect.kind {
            case .slower(let factor): time = time.times(factor)
            case .cold(let factor):
                let left = (incident.end - now) / (incident.end - incident.start)
                time = time.times(1 + (factor - 1) * left)
            case .replica(let number, let factor): if number == job.replica { time = time.times(factor) }
            case .fault, .connectTimeout: break
            }
        }
        clock.schedule(at: now + min(max(.nanoseconds(1), time), .longest)) { [self] in end(job) }
    }

    private func end(_ job: Job) {
        let next = state.withLock { state in
            let next = state.replicas[job.replica].queue.popFirst()
            if next == nil { state.replicas[job.replica].busy -= 1 }
            return next
        }
        if let next { begin(next) }
        job.answer.resume(model.respond?(job.request) ?? HTTPResponse(status: .ok, request: job.request))
    }
}
