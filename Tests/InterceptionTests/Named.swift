import Interception
import TestSupport

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

extension InterceptorChain where Input == String, Output == String {
    /// A chain whose terminal answers with what it got and a bar.
    init(echoing interceptors: [any Interceptor<String, String>]) {
        self.init(interceptors) { $0 + "|" }
    }
}
