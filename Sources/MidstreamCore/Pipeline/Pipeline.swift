internal import Interception

/// The interceptors of a client, or of one call with interceptors of its own, in the order in which they run, and the transport.
package final class Pipeline: Sendable {
    /// An interceptor in its place.
    package struct Element: Sendable {
        package let interceptor: any HTTPInterceptor
        package let name: String
        package let place: Place
        package let scope: InterceptorScope
        /// Whether it has to be asked whose a request is.
        let isPersonal: Bool
        let isPunctual: Bool
        /// Whether the task is told its position, for code that it calls and that asks the task.
        let isPositioned: Bool

        init(_ interceptor: any HTTPInterceptor, _ place: Place, _ scope: InterceptorScope) {
            self.interceptor = interceptor
            name = interceptor.name
            self.place = place
            self.scope = scope
            isPersonal = place > .arbiter && scope != .builtIn && !(interceptor is any ImpersonalInterceptor)
            isPunctual = (interceptor as? any PunctualInterceptor)?.isPunctual ?? false
            isPositioned = scope != .builtIn && (interceptor as? any SecludedInterceptor)?.isSecluded != true
        }
    }

    /// The stages, and what stands between them.
    package enum Place: Int, Comparable, Sendable {
        case call, arbiter, attempt, redirects, exchange

        init(_ stage: InterceptorStage) {
            switch stage {
            case .call: self = .call
            case .attempt: self = .attempt
            case .exchange: self = .exchange
            }
        }

        /// The stage that it belongs to in the eyes of a reader.
        package var stage: InterceptorStage {
            switch self {
            case .call, .arbiter: .call
            case .attempt, .redirects: .attempt
            case .exchange: .exchange
            }
        }

        package static func < (a: Place, b: Place) -> Bool { a.rawValue < b.rawValue }
    }

    package let elements: [Element]
    /// What traces and descriptions say about the elements.
    package let legend: TraceLegend
    /// The innermost part, for the checks that it makes.
    let exchange: Exchange
    /// Whether nothing in it waits for longer than a call may take, whatever the request is but for what it brings itself.
    private let isPunctual: Bool
    private let traced: ChainLinks<HTTPRequest, HTTPResponse>
    private let plain: ChainLinks<HTTPRequest, HTTPResponse>

    private init(_ elements: [Element], transportName: String, exchange: Exchange) {
        let exchange = exchange.ending(elements)
        self.elements = elements
        legend = TraceLegend(
            elements.map { TraceLegend.Entry(name: $0.name, stage: $0.place.stage, scope: $0.scope) }, transport: transportName)
        self.exchange = exchange
        isPunctual = exchange.keepsTime && elements.allSatisfy(\.isPunctual)
        let interceptors = elements.map(\.interceptor.generic)
        let countAtCall = elements.count { $0.place == .call }
        // An interceptor's own waits end like those of anybody else; those further out are told that the deadline was the reason.
        let translation: ChainLinks<HTTPRequest, HTTPResponse>.Translation = { error, place, position in
            guard place < countAtCall, let error = error as? CancellationError else { return error }
            return position.call?.deadline.reason(for: error) ?? error
        }
        plain = ChainLinks(interceptors, translation: translation, terminal: exchange)
        let unpositioned = elements.indices.filter { !elements[$0].isPositioned }
        traced = ChainLinks(
            interceptors, observer: TraceObserver(), unpositioned: Set(unpositioned), translation: translation,
            terminal: exchange)
    }

    package convenience init(
        client interceptors: [any HTTPInterceptor], arbiter: Arbiter, redirects: Redirects, transport: any HTTPTransport
    ) {
        let builtIn = [
            Element(arbiter, .arbiter, .builtIn), Element(redirects, .redirects, .builtIn),
        ]
        self.init(
            Self.sorted(builtIn + Self.elements(interceptors, scope: .client)),
            transportName: "\(type(of: transport))", exchange: Exchange(transport))
    }

    /// The pipeline with interceptors of one request added: in each stage outside the client's.
    package func adding(request interceptors: [any HTTPInterceptor]) -> Pipeline {
        Pipeline(
            Self.sorted(Self.elements(interceptors, scope: .request) + elements), transportName: legend.transport,
            exchange: exchange)
    }

    /// Whether nothing in it waits for longer than a call with this request may take, and a deadline needn't interrupt anything.
    package func isPunctual(for request: HTTPRequest) -> Bool {
        guard isPunctual, request.body.bytes != nil else { return false }
        return request.carriesNothing
            || request.validators == nil && !request.redirects.asksSomebody && !request.isWatchedArriving
    }

    nonisolated(nonsending)
        package func run(_ request: HTTPRequest, as call: Call) async throws -> HTTPResponse
    {
        let position = ChainPosition(run: call)
        // In the other case each interceptor is told its own.
        guard call.recorder == nil else { return try await traced.run(request, at: position) }
        return try await ChainPosition.local.withValue(position) { try await plain.run(request, at: position) }
    }

    /// By place, rank and scope; elements of which these are the same stay in the order given.
    private static func sorted(_ elements: [Element]) -> [Element] {
        elements.enumerated().sorted { a, b in
            (a.element.place, a.element.interceptor.rank, a.element.scope.depth, a.offset)
                < (b.element.place, b.element.interceptor.rank, b.element.scope.depth, b.offset)
        }.map(\.element)
    }

    /// Chains taken apart and staged interceptors put where they belong.
    private static func elements(
        _ interceptors: [any HTTPInterceptor], scope: InterceptorScope, at stage: InterceptorStage? = nil
    ) -> [Element] {
        interceptors.flatMap { interceptor -> [Element] in
            switch interceptor {
            case let chain as ChainedHTTPInterceptor: elements(chain.interceptors, scope: scope, at: stage)
            case let staged as StagedInterceptor: elements([staged.base], scope: scope, at: stage ?? staged.stage)
            default: [Element(interceptor, Place(stage ?? interceptor.stage), scope)]
            }
        }
    }
}

extension InterceptorScope {
    /// The outer scope comes first.
    fileprivate var depth: Int {
        switch self {
        case .request: 0
        case .client: 1
        case .builtIn: 2
        }
    }
}
