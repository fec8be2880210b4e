internal import Interception

/// The interceptors of a client, or of one call with interceptors of its own, in the order in which they run, and the transport.
package final class Pipeline: Sendable {
    /// An interceptor in its place.
    package struct Element: Sendable {
        package let interceptor: any HTTPInterceptor
        package let name: String
        package let place: Place
        package let scope: Scope
    }

    /// The stages, and what stands between them.
    package enum Place: Int, Comparable, Sendable {
        case call, arbiter, attempt, redirects, exchange

        init(_ stage: Stage) {
            switch stage {
            case .call: self = .call
            case .attempt: self = .attempt
            case .exchange: self = .exchange
            }
        }

        /// The stage that it belongs to in the eyes of a reader.
        package var stage: Stage {
            switch self {
            case .call, .arbiter: .call
            case .attempt, .redirects: .attempt
            case .exchange: .exchange
            }
        }

        package static func < (a: Place, b: Place) -> Bool { a.rawValue < b.rawValue }
    }

    package let elements: [Element]
    package let transportName: String
    /// The innermost part, for the checks that it makes.
    let exchange: Exchange
    private let traced: ChainLinks<HTTPRequest, HTTPResponse>
    private let plain: ChainLinks<HTTPRequest, HTTPResponse>

    private init(_ elements: [Element], transportName: String, exchange: Exchange) {
        self.elements = elements
        self.transportName = transportName
        self.exchange = exchange
        let terminal: @Sendable (HTTPRequest) async throws -> HTTPResponse = { try await exchange.send($0) }
        let interceptors: [any Interceptor<HTTPRequest, HTTPResponse>] = elements.map(\.interceptor.generic)
        plain = ChainLinks(interceptors, terminal: terminal)
        traced = ChainLinks(interceptors, observer: TraceObserver(), terminal: terminal)
    }

    convenience init(
        client interceptors: [any HTTPInterceptor], arbiter: Arbiter, redirects: Redirects, transport: any HTTPTransport
    ) {
        let builtIn = [
            Element(interceptor: arbiter, name: arbiter.name, place: .arbiter, scope: .builtIn),
            Element(interceptor: redirects, name: redirects.name, place: .redirects, scope: .builtIn),
        ]
        self.init(
            Self.sorted(builtIn + Self.elements(interceptors, scope: .client)),
            transportName: "\(type(of: transport))", exchange: Exchange(transport))
    }

    /// The pipeline with interceptors of one request added: in each stage outside the client's.
    func adding(request interceptors: [any HTTPInterceptor]) -> Pipeline {
        Pipeline(
            Self.sorted(Self.elements(interceptors, scope: .request) + elements), transportName: transportName,
            exchange: exchange)
    }

    func run(_ request: HTTPRequest, isTraced: Bool) async throws -> HTTPResponse {
        try await (isTraced ? traced : plain).run(request, at: 0, within: -1)
    }

    /// By place; elements of the same place stay in the order given.
    private static func sorted(_ elements: [Element]) -> [Element] {
        elements.enumerated().sorted { a, b in
            a.element.place == b.element.place ? a.offset < b.offset : a.element.place < b.element.place
        }.map(\.element)
    }

    /// Chains taken apart and staged interceptors put where they belong.
    private static func elements(_ interceptors: [any HTTPInterceptor], scope: Scope, at stage: Stage? = nil) -> [Element] {
        interceptors.flatMap { interceptor -> [Element] in
            switch interceptor {
            case let chain as ChainedHTTPInterceptor: elements(chain.interceptors, scope: scope, at: stage)
            case let staged as StagedInterceptor: elements([staged.base], scope: scope, at: stage ?? staged.stage)
            default:
                [
                    Element(
                        interceptor: interceptor, name: interceptor.name, place: Place(stage ?? interceptor.stage), scope: scope)
                ]
            }
        }
    }
}

/// Who put an interceptor into a pipeline.
public enum Scope: String, Sendable, Hashable, Codable {
    /// The request: it serves this request alone.
    case request
    /// The client: it serves all requests.
    case client
    /// The library: it is always there.
    case builtIn
}
