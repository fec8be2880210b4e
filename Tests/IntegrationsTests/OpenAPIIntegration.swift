import Foundation
import HTTPTypes
import Midstream
import MidstreamTesting
import OpenAPIRuntime

func openAPI() async throws {
    let stub = StubTransport(sequence: [503, 418, 418].map { .respond($0, body: .text("a teapot")) })
    var configuration = HTTPClient.Configuration()
    configuration.maxRetries = 2
    configuration.validators = [DefaultValidator(retriableStatus: [503: .immediate])]
    let client = HTTPClient(configuration: configuration, transport: stub)
    let transport = OpenAPITransport(client: client)
    guard let url = URL(string: "https://api.example.com/v2/") else { return expect(false) }
    let body = OpenAPIRuntime.HTTPBody(
        AsyncStream {
            $0.yield(ArraySlice("pot".utf8)); $0.finish()
        }, length: .known(3), iterationBehavior: .single)
    let again = OpenAPIRuntime.HTTPBody(Chunks(), length: .unknown, iterationBehavior: .multiple)
    for (body, status) in [(again, 418), (body, 418)] {
        let (response, answer) = try await transport.send(
            HTTPTypes.HTTPRequest(method: .put, scheme: nil, authority: nil, path: "/brew?size=1"), body: body, baseURL: url,
            operationID: "brew")
        var text = [UInt8]()
        for try await chunk in answer ?? body { text += chunk }
        expect(response.status.code == status && String(decoding: text, as: UTF8.self) == "a teapot")
    }
    expect(stub.requests.allSatisfy { $0.urlText == "https://api.example.com/v2/brew?size=1" && $0.route == "brew" })
    for path in [".evil.example/", "@evil.example/"] {
        let request = HTTPTypes.HTTPRequest(method: .get, scheme: nil, authority: nil, path: path)
        _ = try? await transport.send(request, body: nil, baseURL: url, operationID: "stray")
    }
    expect(stub.requests.count == 3, "\(stub.requests)")
}

private struct Chunks: AsyncSequence, Sendable {
    func makeAsyncIterator() -> AsyncStream<ArraySlice<UInt8>>.Iterator {
        AsyncStream {
            $0.yield(ArraySlice("pot".utf8)); $0.finish()
        }.makeAsyncIterator()
    }
}
