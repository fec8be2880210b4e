package import MidstreamCore

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

/// The ``HTTPError`` that the work throws; nil when it throws another one, or none.
package func httpError<Result>(_ work: () async throws -> Result) async -> HTTPError? {
    do {
        _ = try await work()
        return nil
    } catch {
        return error as? HTTPError
    }
}
