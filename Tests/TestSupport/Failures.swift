package import MidstreamCore
package import Testing

/// An error that isn't the library's.
package struct Failure: Error, Equatable {
    package let reason: String
    package init(_ reason: String = "broken") { self.reason = reason }
}

extension Result where Failure == any Error {
    /// The failure, if it is one of the library's.
    package var httpError: HTTPError? {
        if case .failure(let error as HTTPError) = self { error } else { nil }
    }
}

/// The ``HTTPError`` that the work throws. Anything else is a failure of the test.
package func httpError<Result>(
    sourceLocation: SourceLocation = #_sourceLocation, _ work: () async throws -> Result
) async -> HTTPError? {
    do {
        let result = try await work()
        Issue.record("expected an HTTPError, got \(result)", sourceLocation: sourceLocation)
    } catch let error as HTTPError {
        return error
    } catch {
        Issue.record("expected an HTTPError, got \(error)", sourceLocation: sourceLocation)
    }
    return nil
}
