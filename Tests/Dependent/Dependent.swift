import Midstream

/// What a program looks like that knows nothing but `import Midstream`.
@main
enum Dependent {
    struct Failure: Error { let what: String }

    static func main() async throws {
        let url = try base() + "/hello"
        let response = try await HTTPClient.shared.send(HTTPRequest(url))
        let text = String(decoding: response.body.bytes ?? [], as: UTF8.self)
        guard response.status == .ok, text == "hello\n" else { throw Failure(what: "got \(response.status): \(text)") }

        let transport = HTTPClient.shared.pipeline.transport
        let expected = CommandLine.arguments.contains("urlsession") ? "URLSessionTransport" : defaultTransport
        guard transport == expected else { throw Failure(what: "the transport is \(transport), not \(expected)") }
        print("dependent package: \(response.status) through \(transport)")
    }

    private static func base() throws -> String {
        guard let base = Environment["MIDSTREAM_NGINX_HTTP"] else { throw Failure(what: "no server") }
        return base
    }

    #if os(Linux)
        private static let defaultTransport = "WireTransport"
    #else
        private static let defaultTransport = "URLSessionTransport"
    #endif
}

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

private enum Environment {
    static subscript(name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
