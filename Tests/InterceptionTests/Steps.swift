import Interception

/// What happened, in order, noted by whoever took part.
struct Steps: Sendable {
    private let noted = Locked<[String]>([])

    var all: [String] { noted.withLock { $0 } }

    func note(_ step: String) { noted.withLock { $0.append(step) } }
}

/// Adds its name on the way down and on the way up.
struct Named: Interceptor {
    let name: String
    let steps: Steps

    init(_ name: String, _ steps: Steps = Steps()) {
        self.name = name
        self.steps = steps
    }

    func intercept(_ input: String, next: Next<String, String>) async throws -> String {
        steps.note("\(name) down")
        let output = try await next(input + name)
        steps.note("\(name) up")
        return output + name
    }
}

struct Failure: Error, Equatable {
    let reason: String
    init(_ reason: String = "broken") { self.reason = reason }
}

extension InterceptorChain where Input == String, Output == String {
    /// A chain whose terminal answers with what it got and a bar.
    init(echoing interceptors: [any Interceptor<String, String>]) {
        self.init(interceptors) { $0 + "|" }
    }
}
