// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// What the recipe uses of SwiftUI and Combine, and no more. Nothing is shown.
public protocol ObservableObject: AnyObject {}
@propertyWrapper public struct Published<Value> {
    public var wrappedValue: Value
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}
@MainActor @propertyWrapper public struct StateObject<Object: ObservableObject> {
    public let wrappedValue: Object
    public init(wrappedValue: @autoclosure () -> Object) { self.wrappedValue = wrappedValue() }
}
@MainActor public protocol View {
    associatedtype Body: View
    @ViewBuilder var body: Body { get }
}
extension Never: View { public var body: Never { return fatalError() } }
@MainActor public struct Shown: View {
    public var body: Never { return fatalError() }
}
@MainActor public func Text(_ text: String) -> Shown { Shown() }
@MainActor public func ProgressView() -> Shown { Shown() }
@MainActor public func Button(_ title: String, action: @escaping @MainActor () -> Void) -> Shown { Shown() }
@MainActor public func Group(@ViewBuilder content: () -> Shown) -> Shown { content() }
@MainActor @resultBuilder public enum ViewBuilder {
    public static func buildExpression(_ view: some View) -> Shown { Shown() }
    public static func buildBlock(_ views: Shown...) -> Shown { Shown() }
    public static func buildEither(first: Shown) -> Shown { first }
    public static func buildEither(second: Shown) -> Shown { second }
}
extension View {
    public func task(_ action: @escaping @Sendable @isolated(any) () async -> Void) -> Shown { Shown() }
    public func refreshable(action: @escaping @Sendable () async -> Void) -> Shown { Shown() }
}
