// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// What the recipe uses of swift-service-lifecycle 2, and no more.
public protocol Service: Sendable { func run() async throws }
public func gracefulShutdown() async throws { try Task.checkCancellation() }
