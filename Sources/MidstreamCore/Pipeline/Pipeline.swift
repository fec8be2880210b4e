package import Interception

/// The interceptors of a client, or of one call with interceptors of its own, in the order in which they run, and the transport.
package final class Pipeline: Sendable {
    /// An interceptor in its place.
    package struct Element: Sendable {
        package let interceptor: any HTTPInterceptor
        package let name: String
        package let place: Place
        package let scope: InterceptorScope
        let rank: InterceptorRank
        /// Whether it has to be asked whose a request is.
        let isPersonal: Bool
        /// Whether it may wait beyond a deadline.
        let waitsFreely: Bool

        init(_ interceptor: any HTTPInterceptor, _ place: Place, _ scope: InterceptorScope) {
            self.interceptor = interceptor
            name = interceptor.name
            self.place = place
            self.scope = scope
            // Looking up a conformance costs more than the rest.
            let isMoved = place.stage != interceptor.stage
            rank = (isMoved ? interceptor as? any RankedByStage : nil)?.rank(at: place.stage) ?? interceptor.rank
            isPersonal = scope != .builtIn && !interceptor.traits.contains(.impersonal)
            waitsFreely = scope != .builtIn && !interceptor.traits.contains(.endsInTime)
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
    private let traced: ChainLinks<HTTPRequest, HTTPResponse>
    private let plain: ChainLinks<HTTPRequest, HTTPResponse>

    private init(_ elements: [Element], transport: any HTTPTransport, named transportName: String, redaction: Redaction) {
        let exchange = Exchange(transport, behind: elements)
        self.elements = elements
        let entries = elements.map { PipelineDescription.Entry(name: $0.name, stage: $0.place.stage, scope: $0.scope) }
        legend = TraceLegend(PipelineDescription(entries: entries, transport: transportName), redaction: redaction)
        self.exchange = exchange
        let interceptors = elements.map(\.interceptor.generic)
        let interruptible = Set(elements.indices.filter { elements[$0].waitsFreely })
        plain = ChainLinks(
            interceptors, interruptible: interruptible, interruption: Self.interrupting, terminal: exchange)
        // The built-in ones call nobody's code that asks the task, but where they tell it themselves.
        let builtIn = elements.indices.filter { elements[$0].scope == .builtIn }
        traced = ChainLinks(
            interceptors, observer: TraceObserver(), unpositioned: Set(builtIn), interruptible: interruptible,
            interruption: Self.interrupting, terminal: exchange)
    }

    private static let interrupting: ChainLinks<HTTPRequest, HTTPResponse>.Interruption = { interceptor, request, next in
        try await next.position.untilDeadline { position in
            try await ChainPosition.local.withValue(position) {
                try await interceptor.intercept(request, next: next.at(position))
            }
        }
    }

    /// - Parameter redaction: What traces and explanations don't show.
    package convenience init(
        client interceptors: [any HTTPInterceptor], arbiter: Arbiter, redirects: Redirects, transport: any HTTPTransport,
        redaction: Redaction
    ) {
        let builtIn = [
            Element(arbiter, .arbiter, .builtIn), Element(redirects, .redirects, .builtIn),
        ]
        self.init(
            Self.sorted(builtIn + Self.elements(interceptors, scope: .client)), transport: transport,
            named: "\(type(of: transport))", redaction: redaction)
    }

    /// The pipeline with interceptors of one request added: in each stage outside the client's of the same rank.
    package func adding(request interceptors: [any HTTPInterceptor]) -> Pipeline {
        Pipeline(
            Self.sorted(Self.elements(interceptors, scope: .request) + elements), transport: exchange.transport,
            named: legend.pipeline.transport, redaction: legend.redaction)
    }

    nonisolated(nonsending)
        package func run(_ request: HTTPRequest, at position: ChainPosition) async throws -> HTTPResponse
    {
        // In the other case each interceptor is told its own.
        guard position.call?.recorder == nil else { return try await traced.run(request, at: position) }
        return try await ChainPosition.local.withValue(position) { try await plain.run(request, at: position) }
    }

    /// By place, rank and scope; elements of which these are the same stay in the order given.
    private static func sorted(_ elements: [Element]) -> [Element] {
        elements.enumerated().sorted { a, b in
            (a.element.place, a.element.rank, a.element.scope.depth, a.offset)
                < (b.element.place, b.element.rank, b.element.scope.depth, b.offset)
        }.map(\.element)
    }

    /// Chains taken apart and staged interceptors put where they belong.
    private static func elements(
        _ interceptors: [any HTTPInterceptor], scope: InterceptorScope, at stage: InterceptorStage? = nil
    ) -> [Element] {
        interceptors.flatMap { interceptor -> [Element] in
            switch interceptor {
            case let chain as ChainedHTTPInterceptor: elements(chain.interceptors, scope: scope, at: stage)
            case let chain as ChainedRequestInterceptor: elements(chain.interceptors, scope: scope, at: stage)
            case let chain as ChainedResponseInterceptor: elements(chain.interceptors.reversed(), scope: scope, at: stage)
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
