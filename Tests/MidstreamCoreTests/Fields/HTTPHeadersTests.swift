import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("Headers", .leavesNothing)
struct HTTPHeadersTests {
    private func lines(_ headers: HTTPHeaders) -> [String] { headers.map { "\($0.name): \($0.value)" } }

    @Test("order, duplicates and the case of names are kept")
    func kept() {
        var headers: HTTPHeaders = ["B": "1", "a": "2", "b": "3"]
        headers.add("A", "4")
        #expect(lines(headers) == ["B: 1", "a: 2", "b: 3", "A: 4"])
        #expect(headers.count == 4)
        #expect(!headers.isEmpty)
    }

    @Test("names are compared without regard to case")
    func caseless() {
        let headers: HTTPHeaders = ["Content-Type": "text/plain"]
        #expect(headers["content-type"] == "text/plain")
        #expect(headers["CONTENT-TYPE"] == "text/plain")
        #expect(headers.contains("cOnTeNt-tYpE"))
        #expect(headers["Content-Typ"] == nil)
        #expect(headers["Content-Types"] == nil)
    }

    @Test("getting joins the values of a name, values(_:) doesn't")
    func combined() {
        let headers: HTTPHeaders = ["Accept": "a", "X": "y", "accept": "b, c", "ACCEPT": ""]
        #expect(headers["Accept"] == "a, b, c, ")
        #expect(headers.values("Accept") == ["a", "b, c", ""])
        #expect(headers.values("Missing").isEmpty)
        #expect(headers["Missing"] == nil)
    }

    @Test("Set-Cookie values can be told apart")
    func cookies() {
        var headers = HTTPHeaders()
        headers.add(.setCookie, "a=1; Expires=Wed, 21 Oct 2015 07:28:00 GMT")
        headers.add(.setCookie, "b=2")
        #expect(headers.values(.setCookie) == ["a=1; Expires=Wed, 21 Oct 2015 07:28:00 GMT", "b=2"])
    }

    @Test("setting replaces in the place of the first and removes the others")
    func setInPlace() {
        var headers: HTTPHeaders = ["A": "1", "B": "2", "C": "3", "b": "4"]
        headers["b"] = "5"
        #expect(lines(headers) == ["A: 1", "b: 5", "C: 3"])
        headers["D"] = "6"
        #expect(lines(headers) == ["A: 1", "b: 5", "C: 3", "D: 6"])
        headers["A"] = "7"
        #expect(lines(headers) == ["A: 7", "b: 5", "C: 3", "D: 6"])
        headers["D"] = "8"
        #expect(lines(headers).last == "D: 8")
    }

    @Test("setting nil and remove(_:) remove all fields of the name")
    func removed() {
        var headers: HTTPHeaders = ["A": "1", "B": "2", "a": "3"]
        headers["A"] = nil
        #expect(lines(headers) == ["B: 2"])
        headers.remove("b")
        headers.remove("b")
        #expect(headers.isEmpty)
        #expect(headers.count == 0)
    }

    @Test("a name that fills a head of the largest size is removed, set, joined and left out of a merge all the same")
    func manyFields() {
        var head: HTTPHeaders = ["First": "1"]
        for number in 0..<7_000 {
            head.add("Content-Length", "25")
            if number % 2 == 0 { head.add("Kept", "\(number)") }
        }
        var removed = head
        removed.remove("content-length")
        #expect(removed.count == 3_501 && removed.values("Kept").count == 3_500 && !removed.contains("Content-Length"))
        var set = head
        set["Content-Length"] = "26"
        #expect(Array(lines(set).prefix(3)) == ["First: 1", "Content-Length: 26", "Kept: 0"] && set.count == 3_502)
        #expect(head["Content-Length"]?.utf8.count == 7_000 * 4 - 2)
        var merged = head
        merged.merge(defaults: ["kept": "x", "New": "y"])
        #expect(merged.count == head.count + 1 && merged["New"] == "y")
        var emptied = head
        emptied.removeAll { $0 != "First" }
        #expect(lines(emptied) == ["First: 1"])
    }

    @Test("removing by a closure takes refused fields along, and keeps the marks")
    func removedByClosure() {
        var headers: HTTPHeaders = ["A": "1", "X-Mine": "2", "a": "3"]
        headers.markSensitive("X-Mine")
        headers.add("A", "bad\n")
        headers.removeAll { $0 == "a" }
        #expect(lines(headers) == ["X-Mine: 2"] && headers.refused.isEmpty && headers.isSensitive("x-mine"))
    }

    @Test("values are trimmed of outer spaces and tabs, not of inner ones")
    func trimmed() {
        let headers: HTTPHeaders = ["A": " \t x  y\t ", "B": "", "C": "   "]
        #expect(headers.values("A") == ["x  y"])
        #expect(headers["B"] == "")
        #expect(headers["C"] == "")
    }

    @Test("values hold colons, commas and any Unicode text", arguments: ["a:b", ":", "grüße", "日本", "a,b", "\u{1F600}"])
    func anyText(value: String) {
        var headers: HTTPHeaders = ["Before": "1"]
        headers.add("X", value)
        headers.add("After", "2")
        #expect(headers["X"] == value)
        #expect(lines(headers) == ["Before: 1", "X: \(value)", "After: 2"])
    }

    @Test("equality and hashes disregard the case of names, but not order and values")
    func equality() {
        let headers: HTTPHeaders = ["A": "1", "B": "2"]
        let others: HTTPHeaders = ["a": "1", "b": "2"]
        #expect(headers == others)
        #expect(headers.hashValue == others.hashValue)
        #expect(headers != ["B": "2", "A": "1"])
        #expect(headers != ["A": "1", "B": "3"])
        #expect(headers != ["A": "1"])
        #expect(HTTPHeaders(dictionaryLiteral: ("A", "a\u{323}\u{307}")) != ["A": "a\u{307}\u{323}"])
        #expect(HTTPHeaders() == [:])
        #expect(HTTPHeaders.Name("X-a") == "x-A")
        #expect(Set<HTTPHeaders.Name>(["X-A", "x-a", "X-B"]).count == 2)
        #expect(HTTPHeaders.Name("k") != "\u{212A}", "the Kelvin sign isn't the letter k")
    }

    @Test("copies are values")
    func copies() {
        let original: HTTPHeaders = ["A": "1"]
        var copy = original
        copy["A"] = "2"
        copy.markSensitive("A")
        #expect(original["A"] == "1")
        #expect(!original.isSensitive("A"))
    }

    @Test(
        "a name or value that could break the message is refused, and nothing is sent",
        arguments: [
            ("X", "a\r\nInjected: 1"), ("X", "a\nb"), ("X", "a\rb"), ("X", "a\0b"), ("", "v"), ("Sp ace", "v"),
            ("Col:on", "v"), ("Line\n", "v"), ("Ümlaut", "v"), ("(x)", "v"), ("X", "\n"),
        ])
    func refused(name: String, value: String) async {
        for isSet in [true, false] {
            var request = HTTPRequest("https://example.com/")
            if isSet { request.headers[.init(name)] = value } else { request.headers.add(.init(name), value) }
            #expect(request.headers.isEmpty)
            let stub = StubTransport.ok
            let error = await httpError {
                try await testClient(transport: stub).send(request)
            }
            #expect(error?.code == .invalidRequest)
            #expect(error?.phase == .notSent)
            #expect(stub.requests.isEmpty)
        }
    }

    @Test("a refused field that is set properly afterwards, or removed, can be sent")
    func refusedAndCorrected() async throws {
        var request = HTTPRequest("https://example.com/")
        request.headers["X"] = "bad\n"
        request.headers["x"] = "good"
        request.headers.add("Y", "bad\n")
        request.headers.remove("Y")
        let stub = StubTransport.ok
        _ = try await testClient(transport: stub).send(request)
        #expect(stub.requests.first?.headers["X"] == "good")
    }

    @Test("setting a refused value removes what was there, so that no old value is sent in its place")
    func refusedReplaces() {
        var headers: HTTPHeaders = ["X": "old"]
        headers["X"] = "bad\n"
        #expect(headers["X"] == nil)
    }

    @Test("a value that is a URL is shown without the secrets in it, whatever the field")
    func urlValues() {
        let headers: HTTPHeaders = ["x-ms-copy-source": "HTTPS://h/a?sv=1&sig=S3CR3T", "X-Note": "see http://h/?sig=shown"]
        #expect(headers.description == "x-ms-copy-source: HTTPS://h/a?sv=1&sig=‹withheld›\nX-Note: see http://h/?sig=shown")
        #expect(Redaction(queryItems: ["sv"]).value("https://h/?sv=1", of: "X-Source", in: headers) == "https://h/?sv=‹withheld›")
    }

    @Test("the usual credentials are secret, and any other name can be marked")
    func sensitive() {
        var headers: HTTPHeaders = ["Authorization": "secret-1", "X-Mine": "secret-2", "Accept": "shown"]
        #expect(headers.isSensitive("authorization"))
        for name in [
            "Set-Cookie", "apikey", "Ocp-Apim-Subscription-Key", "x-amz-server-side-encryption-customer-key", "job-token",
            "x-aws-ec2-metadata-token", "X-Shopify-Access-Token", "Token", "cf-access-client-secret", "x-registry-auth",
        ] {
            #expect(headers.isSensitive(HTTPHeaders.Name(name)))
        }
        #expect(!headers.isSensitive("X-Mine"))
        headers.markSensitive("x-mine")
        #expect(headers.isSensitive("X-Mine"))
        for text in [headers.description, headers.debugDescription, String(reflecting: headers)] {
            #expect(!text.contains("secret"))
            #expect(text.contains("Accept: shown"))
            #expect(text.contains("X-Mine: "))
        }
    }

    @Test("a mark stays when the value is set anew or removed")
    func markStays() {
        var headers: HTTPHeaders = ["X-Mine": "a"]
        headers.markSensitive("X-Mine")
        headers["X-Mine"] = "b"
        headers.remove("X-Mine")
        headers.add("x-mine", "c")
        headers.add("bad\n", "value")
        #expect(headers.isSensitive("X-Mine"))
    }
}
