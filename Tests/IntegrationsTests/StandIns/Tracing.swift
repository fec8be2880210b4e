// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// What the examples use of swift-distributed-tracing 1.4 and what it re-exports, and no more. Spans are kept, so that they can be looked at.
internal import Synchronization

public struct ServiceContext: Sendable {
    @TaskLocal public static var current: ServiceContext?
    public static var topLevel: ServiceContext { ServiceContext(id: "0") }
    /// No part of swift-distributed-tracing.
    public var id: String
    public init(id: String) { self.id = id }
}

public protocol Injector: Sendable {
    associatedtype Carrier: Sendable
    func inject(_ value: String, forKey key: String, into carrier: inout Carrier)
}
public protocol Instrument: Sendable {
    func inject<Carrier, Inject: Injector>(_ context: ServiceContext, into carrier: inout Carrier, using injector: Inject)
    where Inject.Carrier == Carrier
}

public enum SpanKind: Sendable { case server, client, producer, consumer, `internal` }
public struct SpanStatus: Sendable {
    public enum Code: Sendable { case ok, error }
    public let code: Code
    public let message: String?
    public init(code: Code, message: String? = nil) { (self.code, self.message) = (code, message) }
}
public enum SpanAttribute: Sendable { case string(String), int64(Int64) }
public protocol SpanAttributeConvertible { func toSpanAttribute() -> SpanAttribute }
extension String: SpanAttributeConvertible { public func toSpanAttribute() -> SpanAttribute { .string(self) } }
extension Int: SpanAttributeConvertible { public func toSpanAttribute() -> SpanAttribute { .int64(Int64(self)) } }
public struct SpanAttributes: Sendable {
    var all: [String: SpanAttribute] = [:]
    public subscript(_ name: String) -> (any SpanAttributeConvertible)? {
        get { nil }
        set { all[name] = newValue?.toSpanAttribute() }
    }
}
public protocol Span: Sendable {
    var context: ServiceContext { get }
    var attributes: SpanAttributes { get nonmutating set }
    func setStatus(_ status: SpanStatus)
    func end()
}
public protocol Tracer: Instrument {
    func startSpan(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind, function: String,
        file fileID: String,
        line: UInt
    ) -> any Span
}
extension Tracer {
    public func startSpan(
        _ operationName: String, context: @autoclosure () -> ServiceContext = .current ?? .topLevel,
        ofKind kind: SpanKind = .internal,
        function: String = #function, file fileID: String = #fileID, line: UInt = #line
    ) -> any Span {
        startSpan(operationName, context: context(), ofKind: kind, function: function, file: fileID, line: line)
    }
}
public enum InstrumentationSystem {
    public static var tracer: any Tracer { KeptTracer() }
    public static var instrument: any Instrument { KeptTracer() }
}

/// No part of swift-distributed-tracing.
public final class KeptSpan: Span {
    private struct State {
        var attributes = SpanAttributes()
        var isError = false
        var ends = 0
    }

    private static let kept = Mutex<[KeptSpan]>([])
    public static func take() -> [KeptSpan] {
        kept.withLock { kept in
            defer { kept = [] }
            return kept
        }
    }

    private static let count = Atomic(0)
    public let name: String
    public let kind: SpanKind
    public let parent: String
    public let context: ServiceContext
    private let state = Mutex(State())
    public var attributes: SpanAttributes {
        get { state.withLock { $0.attributes } }
        set { state.withLock { $0.attributes = newValue } }
    }
    public var isError: Bool { state.withLock { $0.isError } }
    public var ends: Int { state.withLock { $0.ends } }

    init(_ name: String, _ kind: SpanKind, _ parent: ServiceContext) {
        (self.name, self.kind, self.parent) = (name, kind, parent.id)
        context = ServiceContext(id: "\(Self.count.add(1, ordering: .relaxed).newValue)")
        Self.kept.withLock { $0.append(self) }
    }
    public func setStatus(_ status: SpanStatus) { state.withLock { $0.isError = status.code == .error } }
    public func end() { state.withLock { $0.ends += 1 } }
    public func text(_ name: String) -> String? {
        switch state.withLock({ $0.attributes.all[name] }) {
        case .string(let text): text
        case .int64(let number): "\(number)"
        case nil: nil
        }
    }
}
struct KeptTracer: Tracer {
    func startSpan(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind, function: String,
        file fileID: String,
        line: UInt
    ) -> any Span { KeptSpan(operationName, kind, context()) }
    func inject<Carrier, Inject: Injector>(_ context: ServiceContext, into carrier: inout Carrier, using injector: Inject)
    where Inject.Carrier == Carrier { injector.inject("span-\(context.id)", forKey: "traceparent", into: &carrier) }
}
