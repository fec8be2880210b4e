import Foundation
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamTasks

@Suite("D3 Decoding failures say where", .leavesNothing) struct DecodingFailureTests {
    private struct Order: Decodable, Sendable {
        struct Item: Decodable, Sendable {
            var name: String
            var price: Int
            var date: Date?
        }
        var items: [Item]
    }

    private func error(_ json: String, at path: KeyPath<JSONPath, JSONPath> = \.self) async throws -> HTTPError {
        let task = HTTPClient.stubbed(.json(json)).get("orders?api_key=t0psecret")
        return try #require(await failure { try await task.keyPath(path).value(Order.self) } as? HTTPError)
    }

    @Test func aTypeThatDoesNotMatch() async throws {
        let error = try await error(#"{"items": [{"name": "a", "price": 1}, {"name": "b", "price": "2 EUR"}]}"#)
        #expect(error.code == .decoding)
        #expect(error.message == #"The body is no Order: items[1].price: expected Int."#)
        #expect(error.underlying is DecodingError)
        #expect(error.response?.status == .ok)
        #expect(error.description.contains("[GET https://example.com/orders?api_key="))
        #expect(error.description.contains("[200 OK]"))
        #expect(!error.description.contains("t0psecret"))
        #expect(error.trace?.spans.isEmpty == false)
    }

    @Test func aMissingKey() async throws {
        let error = try await error(#"{"items": [{"name": "a"}]}"#)
        #expect(error.message == #"The body is no Order: items[0]: the key "price" is missing."#)
    }

    @Test func aNull() async throws {
        let error = try await error(#"{"items": null}"#)
        #expect(error.message.hasPrefix("The body is no Order: items: expected "))
        #expect(error.message.hasSuffix("found null."))
    }

    @Test func thePathOfAKeyPathComesFirst() async throws {
        let error = try await error(#"{"data": {"items": [7]}}"#, at: \.data)
        #expect(error.message.hasPrefix("The body is no Order: data.items[0]: expected "))
    }

    @Test func noJSONAtAll() async throws {
        let text = "<html> <h1>Bad   gateway</h1>"
        let error = try #require(
            await failure { try await HTTPClient.stubbed(.json(text)).get("a").value(Order.self) } as? HTTPError)
        #expect(error.message.hasPrefix("The body is no Order: the root: isn't valid JSON"))
        #expect(!error.message.contains("Bad"))
        let empty = try #require(
            await failure { try await HTTPClient.stubbed(.json("")).get("a").value(Order.self) } as? HTTPError)
        #expect(empty.message.hasPrefix("The body is no Order: the root: isn't valid JSON"))
    }

    @Test(arguments: [
        #"{"items": {"access_token": "s3cret"}}"#, #"{"items": {"a": {"clientSecret": ["s3cret", {"b": "s3cret"}]}}}"#,
        #"{"items": {"password" : "a\"s3cret"}}"#, #"{"items": {"API-Key": 1}, "token": "s3cret"}"#,
        #"{"token": "s3cret", "items": 1"#,
        #"{"token": "s3cret"#, "token=s3cret&a=b", "Authorization: Bearer s3cret", #"{"items": "{\"token\":\"s3cret\"}"}"#,
        #""s3cret""#,
        #"{"items": [{"name": "x", "price": {"session_id": s3cret}}]}"#, "{'pwd': 's3cret'}",
    ])
    func nothingOfTheBodyIsQuoted(json: String) async throws {
        let error = try #require(
            await failure { try await HTTPClient.stubbed(.json(json)).get("a").value(Order.self) } as? HTTPError)
        var text = error.message + "\(error)" + error.localizedDescription
        dump(error, to: &text)
        #expect(!text.contains("s3cret"))
    }

    @Test func nothingIsQuotedOfAPartOfTheBody() async throws {
        let client = HTTPClient.stubbed(.json(#"{"token": "s3cret", "auth": {"secret": {"value": "s3cret"}}}"#))
        let errors = [
            await failure { try await client.get("a").keyPath(\.token).value(Int.self) },
            await failure { try await client.get("a").keyPath(\.auth.secret).value(Int.self) },
            await failure { try await client.get("a").value([String: Int].self) },
            await failure { try await client.get("a").extractPayload().keyPath(\.token).decode(Int.self).result() },
        ]
        for error in errors { #expect(error != nil && !"\(error.map { "\($0)" } ?? "")".contains("s3cret")) }
    }

    @Test func aResponseSaysTheSame() async throws {
        let response = try await HTTPClient.stubbed(.json(#"{"items": 1}"#)).get("a").response()
        let error = #expect(throws: HTTPError.self) { try response.decode(Order.self) }
        #expect(error?.message.contains("items: expected") == true)
    }
}
