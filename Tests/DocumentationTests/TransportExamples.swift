import Foundation
import Midstream
import MidstreamTesting
import MidstreamURLSession
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif
#if os(Linux)
    import MidstreamCurl
    import MidstreamWire
#endif

@Suite("Transports.md")
struct TransportExamples {
    @Test("URLSession, with a configuration of one's own")
    func urlSession() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(body: "hello"))
        let baseURL = server.url()
        let session = URLSessionConfiguration.ephemeral
        session.httpMaximumConnectionsPerHost = 20

        let client = HTTPClient(
            baseURL: baseURL, transport: URLSessionTransport(configuration: session))
        #expect(try await client.send(HTTPRequest("greeting")).data == Data("hello".utf8))
    }

    /// Answers from a folder of files.
    struct FolderTransport: HTTPTransport {
        let folder: URL

        func send(_ request: HTTPRequest) async throws -> HTTPResponse {
            let name = request.url.lastPathComponent
            // It is decoded, so that `..%2Fsecret` would lead out of the folder.
            guard !name.contains("/"), let data = try? Data(contentsOf: folder.appendingPathComponent(name)) else {
                return HTTPResponse(status: .notFound, request: request)
            }
            return HTTPResponse(status: .ok, body: .data(data), request: request)
        }
    }

    @Test("A transport of one's own")
    func ownTransport() async throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let client = HTTPClient(
            baseURL: "http://files.invalid", transport: FolderTransport(folder: folder))
        #expect(try await client.send(HTTPRequest("TransportExamples.swift")).data.count > 1_000)
        await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest("nothing")) }
        await #expect {
            try await client.send(HTTPRequest("..%2FTestSupport%2FTestClient.swift"))
        } throws: {
            ($0 as? HTTPError)?.response?.status == .notFound
        }
    }

    @Test("A body that is still arriving")
    func streaming() async throws {
        let server = try MockServer()
        defer { server.shutdown() }
        server.enqueue(.init(body: .pattern(length: 1_000_000)))
        let client = HTTPClient(baseURL: server.url())
        let response = try await client.stream(HTTPRequest("film"))
        var count = 0
        for try await chunk in response.body {
            count += chunk.count
        }
        #expect(count == 1_000_000)
    }

    #if os(Linux)
        @Test("Where connections may lead")
        func destinations() async throws {
            let configuration = TransportConfiguration(destinations: .publicOnly(except: ["10.1.2.0/24"]))
            let client = HTTPClient(transport: WireTransport(configuration: configuration))
            do {
                _ = try await client.send(HTTPRequest("http://169.254.169.254/latest/meta-data/"))
            } catch HTTPError.forbiddenDestination {
                print("not one of ours")
            }
        }

        @Test("An address of the request's own")
        func address() throws {
            var request = HTTPRequest("https://api.example.com/health")
            request.address = "10.1.2.3"
            #expect(request.address == "10.1.2.3" && request.url.host == "api.example.com")
        }

        @Test("How many connections and requests there are")
        func statistics() async throws {
            let client = HTTPClient(baseURL: "http://api.example.com", transport: WireTransport())
            let counts = await client.transport.statistics.origins["https://api.example.com"]
            print(counts?.openConnections ?? 0, counts?.idleConnections ?? 0, counts?.waitingRequests ?? 0)
            #expect(counts == nil)
        }

        @Test("libcurl")
        func curl() async throws {
            let server = try MockServer()
            defer { server.shutdown() }
            server.enqueue(.init(body: "hello"))
            let transport = CurlTransport(configuration: TransportConfiguration(connectTimeout: .seconds(5)))
            let client = HTTPClient(baseURL: server.url(), transport: transport)
            defer { transport.close() }
            #expect(try await client.send(HTTPRequest("greeting")).data == Data("hello".utf8))
        }

        @Test("HTTP/3")
        func http3() {
            let transport = CurlTransport(configuration: TransportConfiguration(httpVersions: .http3))
            let client = HTTPClient(baseURL: "https://api.example.com", transport: transport)
            #expect((client.transport as? CurlTransport)?.configuration.httpVersions == .http3)
        }

        @Test("The wire, with a configuration of one's own")
        func wire() async throws {
            let server = try MockServer()
            defer { server.shutdown() }
            server.enqueue(.init(body: "hello"))
            var options = TransportConfiguration()
            options.connectTimeout = .seconds(5)
            options.maximumConnectionsPerHost = 20
            options.hostOverrides = ["api.example.com:80": "127.0.0.1:\(server.port)"]

            let transport = WireTransport(configuration: options)
            let client = HTTPClient(baseURL: "http://api.example.com", transport: transport)
            defer { transport.close() }
            #expect(try await client.send(HTTPRequest("greeting")).data == Data("hello".utf8))
            #expect(try await server.takeRequest().headers[.host] == "api.example.com")
        }

        @Test("The defaults are those of the table")
        func defaults() throws {
            let options = TransportConfiguration()
            let lines = try MarkdownPage(path: "Documentation/Transports.md").lines()
            for row in [
                "| `tls.trustsSystemAuthorities` | \(options.tls.trustsSystemAuthorities) |",
                "| `tls.verifiesCertificates` | \(options.tls.verifiesCertificates) |",
                "| `proxy` | `.\(options.proxy)`: the environment isn't read |",
                "| `connectTimeout` | \(options.connectTimeout?.components.seconds ?? 0) s |",
                "| `idleTimeout` | \(options.idleTimeout?.components.seconds ?? 0) s without a byte of a body |",
                "| `maximumConnectionsPerHost` | \(options.maximumConnectionsPerHost ?? 0) |",
                "| `keepsConnections`, `idleConnectionLifetime` | \(options.keepsConnections), 90 s |",
                "| `eventLoops` | \(options.eventLoops) |",
                "| `decompresses` | \(options.decompresses) |",
            ] {
                #expect(lines.contains(row), "\(row)")
            }
            #expect(options.idleConnectionLifetime == .seconds(90))
            #expect(options.tls.minimumVersion == .tls1_2)
            #expect(options.httpVersions == .automatic)
            #expect(options.headTimeout == nil)
            #expect(options.maximumConnections == nil)
            #expect(options.maximumConnectionAge == nil)
            #expect(options.unixSocketPath == nil)
        }

        @Test("TLS and proxies")
        func tls() async throws {
            var options = TransportConfiguration()
            options.tls.minimumVersion = .tls1_3
            options.tls.authorities = .file("/etc/ssl/my-company.pem")
            options.tls.pinnedPublicKeys = ["sha256//YhKJKSzoTt2b5FP18fvpHo7fJYqQCjAa3HWY3tvRMwE="]
            options.proxy = .http("http://proxy.example.com:3128", noProxy: ["localhost"])
            #expect(options.tls.verifiesCertificates)
        }

        @Test("Tasks on the transport's own thread")
        func executor() async throws {
            let server = try MockServer()
            defer { server.shutdown() }
            server.respond { _ in .init(body: "hello") }
            let transport = WireTransport()
            defer { transport.close() }
            let client = HTTPClient(baseURL: server.url(), transport: transport)
            let statuses = try await withTaskExecutorPreference(client.executor) {
                var statuses: [HTTPStatus] = []
                for page in 1...3 {
                    statuses.append(try await client.send(HTTPRequest("pages/\(page)")).status)
                }
                return statuses
            }
            #expect(statuses == [.ok, .ok, .ok])
        }
    #endif
}
