internal import Foundation
internal import Interception
internal import MidstreamCore

/// Where in a distributed trace a request stands (W3C Trace Context, §3.2): what its `traceparent` field says.
///
/// ```swift
/// let parent = TraceParent(incoming.headers["traceparent"], state: incoming.headers["tracestate"])
/// try await TraceParent.$current.withValue(parent) { try await client.send(request) }
/// ```
public struct TraceParent: Sendable, Hashable {
    /// The trace's identifier: 32 hexadecimal digits in small letters, not all 0.
    public let traceID: String
    /// The identifier of the span that is the parent: 16 hexadecimal digits in small letters, not all 0.
    public let spanID: String
    /// Whether the caller may have recorded its span.
    public var isSampled: Bool
    /// What tracing systems say beside it, as the `tracestate` field has it; nil: nothing.
    public var state: String?

    /// What the present task is part of; interceptors continue it. Set it with `TraceParent.$current.withValue(…)`.
    @TaskLocal public static var current: TraceParent?

    /// Begins a trace of several calls, with random identifiers.
    ///
    /// - Parameter isSampled: Whether it is recorded; true by default. An exporter's ratio counts only where a call begins the trace.
    public init(isSampled: Bool = true) {
        let high = UInt64.random(in: 1 ... .max)
        traceID = Self.hexadecimal(high) + Self.hexadecimal(.random(in: .min ... .max))
        spanID = Self.newSpanID()
        self.isSampled = isSampled
    }

    /// Takes apart what a `traceparent` field says; nil when that isn't one.
    ///
    /// A version that isn't known yet is read as far as version 00 goes (§4.3.2 of the recommendation).
    ///
    /// - Parameter state: The `tracestate` field that came with it; one that couldn't be sent on is dropped. Of more than 32 members or 512
    ///   bytes those of over 128 bytes go first, then the last (§3.3.1.5 and §3.5).
    public init?(_ text: String?, state: String? = nil) {
        guard let text else { return nil }
        let bytes = Array(text.utf8)
        guard bytes.count >= 55, bytes[2] == Self.dash, bytes[35] == Self.dash, bytes[52] == Self.dash else { return nil }
        guard let version = Self.digits(bytes[0..<2]), version != "ff", let traceID = Self.digits(bytes[3..<35]),
            let spanID = Self.digits(bytes[36..<52]), Self.digits(bytes[53..<55]) != nil,
            bytes.count == 55 || version != "00" && bytes[55] == Self.dash
        else { return nil }
        guard traceID.utf8.contains(where: { $0 != Self.zero }), spanID.utf8.contains(where: { $0 != Self.zero }) else {
            return nil
        }
        self.traceID = traceID
        self.spanID = spanID
        isSampled = (bytes[54].hexadecimalValue ?? 0) & 1 == 1
        self.state = state.flatMap(Self.bounded)
    }

    private static func bounded(_ state: String) -> String? {
        guard !state.isEmpty, state.utf8.allSatisfy({ 32...126 ~= $0 }) else { return nil }
        var members = state.split(separator: ",").filter { $0.contains { $0 != " " } }
        guard members.count > 32 || state.utf8.count > 512 else { return state }
        func length() -> Int { members.reduce(members.count - 1) { $0 + $1.utf8.count } }
        if length() > 512 { members.removeAll { $0.utf8.count > 128 } }
        members = Array(members.prefix(32))
        while length() > 512 { members.removeLast() }
        return members.isEmpty ? nil : members.joined(separator: ",")
    }

    private init(traceID: String, spanID: String, isSampled: Bool, state: String?) {
        self.traceID = traceID
        self.spanID = spanID
        self.isSampled = isSampled
        self.state = state
    }

    /// A new span of the same trace.
    public func child() -> TraceParent {
        TraceParent(traceID: traceID, spanID: Self.newSpanID(), isSampled: isSampled, state: state)
    }

    private static let dash = UInt8(ascii: "-")
    private static let zero = UInt8(ascii: "0")

    private static func newSpanID() -> String { hexadecimal(.random(in: 1 ... .max)) }

    private static func hexadecimal(_ number: UInt64) -> String { withUnsafeBytes(of: number.bigEndian) { $0.hexadecimal } }

    /// The trace of a call that is part of no other: the same on each attempt.
    init(of call: HTTPRequest) {
        let observation = ChainPosition.current?.call?.observation
        traceID = observation?.id.description ?? withUnsafeBytes(of: call.id.uuid) { $0.hexadecimal }
        // Of its bits all but six are random, and these are never all 0.
        spanID = String(traceID.suffix(16))
        isSampled = observation?.isSampled ?? true
        state = nil
    }

    /// The bytes as text when they are hexadecimal digits in small letters.
    private static func digits(_ bytes: ArraySlice<UInt8>) -> String? {
        let isPlain = bytes.allSatisfy { 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 }
        return isPlain ? String(decoding: bytes, as: UTF8.self) : nil
    }
}

extension TraceParent: CustomStringConvertible {
    /// What the `traceparent` field says, in version 00.
    public var description: String { "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")" }
}
