import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("Methods and statuses", .leavesNothing)
struct MethodAndStatusTests {
    @Test("safe methods only read, and idempotent ones may be repeated")
    func methods() {
        let safe: Set<HTTPMethod> = [.get, .head, .options, .trace, "QUERY", "PROPFIND", "REPORT", "SEARCH"]
        let idempotent = safe.union([.put, .delete])
        for method in safe.union([.post, .put, .delete, .patch, "PURGE", "MOVE", "M-SEARCH", "get"]) {
            #expect(method.isSafe == safe.contains(method))
            #expect(method.isIdempotent == idempotent.contains(method))
        }
        #expect("\(HTTPMethod(rawValue: "PURGE"))" == "PURGE")
    }

    @Test("a method that is no token is refused, and nothing is sent", arguments: ["", "GET /", "G\r\nET", "GÉT", "a:b"])
    func refused(method: String) async {
        let stub = StubTransport.ok
        let error = await httpError {
            try await testClient(transport: stub).send(HTTPRequest(HTTPMethod(rawValue: method), "https://h/"))
        }
        #expect(error?.code == .invalidRequest)
        #expect(stub.requests.isEmpty)
    }

    @Test(
        "each class of status",
        arguments: [
            (100, "i"), (199, "i"), (200, "s"), (299, "s"), (300, "r"), (399, "r"), (400, "c"), (499, "c"), (500, "e"),
            (599, "e"), (99, ""), (600, ""),
        ])
    func classes(code: Int, name: String) {
        let status = HTTPStatus(code)
        #expect(status.isInformational == (name == "i"))
        #expect(status.isSuccess == (name == "s"))
        #expect(status.isRedirection == (name == "r"))
        #expect(status.isClientError == (name == "c"))
        #expect(status.isServerError == (name == "e"))
    }

    @Test("statuses compare by code and print their phrase")
    func description() {
        #expect(HTTPStatus.ok < .notFound)
        #expect("\(HTTPStatus.notFound)" == "404 Not Found")
        #expect("\(HTTPStatus(299))" == "299")
    }

    @Test("D4 a status set is made of codes and ranges")
    func sets() {
        let set: HTTPStatusSet = [201, 404]
        #expect(set.contains(201) && set.contains(404) && !set.contains(200))
        #expect(HTTPStatusSet.success.contains(200) && HTTPStatusSet.success.contains(299))
        #expect(!HTTPStatusSet.success.contains(300) && !HTTPStatusSet.success.contains(199))
        #expect(HTTPStatusSet.successAndRedirect.contains(399) && !HTTPStatusSet.successAndRedirect.contains(400))
        #expect([100, 404, 999].allSatisfy { HTTPStatusSet.all.contains($0) })
        #expect(HTTPStatusSet(500...599) == .serverError)
        #expect(HTTPStatusSet.clientError.union([503]).contains(503))
        #expect(HTTPStatusSet([.ok, .created].lazy).contains(.created))
        #expect(HTTPStatusSet([]).isEmpty && HTTPStatusSet(200..<200).isEmpty && !set.isEmpty)
        #expect(HTTPStatusSet.success.union([304]).description == "200–299, 304")
    }

    @Test("two status sets with the same members are equal")
    func setEquality() {
        #expect(([200, 201, 404] as HTTPStatusSet) == [404, 201, 200, 201])
        #expect(HTTPStatusSet(200..<202) == [200, 201])
        #expect(HTTPStatusSet(200..<250).union(HTTPStatusSet(230..<300)) == .success)
        #expect(HTTPStatusSet(200..<202).hashValue == ([201, 200] as HTTPStatusSet).hashValue)
        #expect(([200] as HTTPStatusSet) != [201])
    }

    @Test("a status set takes the largest numbers there are")
    func setLimits() {
        #expect(HTTPStatusSet(600...Int.max).contains(HTTPStatus(.max)))
        #expect(([HTTPStatus(.max)] as HTTPStatusSet).contains(HTTPStatus(.max)))
    }
}
