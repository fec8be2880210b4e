import HTTPTypes
import Midstream
import MidstreamTesting

func httpTypes() async throws {
    let client = HTTPClient(transport: StubTransport(status: 201, headers: ["ETag": "\"1\""]))
    let head = HTTPTypes.HTTPRequest(method: .post, scheme: "https", authority: "api.example.com", path: "/users?full=true")
    let request = try Midstream.HTTPRequest(head, body: .text("hello"))
    let response = HTTPTypes.HTTPResponse(try await client.send(request))
    expect(response.status.code == 201 && response.headerFields.first { $0.name.rawName == "ETag" }?.value == "\"1\"")
    expect(request.urlText == "https://api.example.com/users?full=true" && request.method == .post && request.route == nil)

    var secret = Midstream.HTTPRequest("https://user.example.com:8443?q=a/b#part", headers: ["X-Key": "k"])
    secret.headers.markSensitive("X-Key")
    let converted = try HTTPTypes.HTTPRequest(secret)
    expect(converted.authority == "user.example.com:8443" && converted.path == "/?q=a/b", "\(converted)")
    expect(converted.headerFields.first?.indexingStrategy == .disallow)
    expect(try Midstream.HTTPRequest(converted).headers.isSensitive("X-Key"))
    expect((try? HTTPTypes.HTTPRequest(Midstream.HTTPRequest("users/42"))) == nil)
    expect((try? Midstream.HTTPRequest(HTTPTypes.HTTPRequest(method: .get, scheme: nil, authority: nil, path: "*"))) == nil)
    for path in ["*", "", ".evil.example/", "@evil.example/"] {
        let head = HTTPTypes.HTTPRequest(method: .get, scheme: "https", authority: "api.example.com", path: path)
        expect((try? Midstream.HTTPRequest(head)) == nil, path)
    }
    expect((try? HTTPFields(["X-Name": "a\u{1}b"])) == nil)
    // A server has acted by then.
    let received = HTTPFields(received: ["Set-Cookie": "a=b\u{1}c", "ETag": "1"])
    expect(received.map { "\($0.name.rawName): \($0.value)" } == ["Set-Cookie: a=b c", "ETag: 1"], "\(received)")
}
