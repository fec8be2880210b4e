import Foundation
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@Suite("Encoded bodies", .leavesNothing)
struct BodyEncodingTests {
    @Test("JSON")
    func json() throws {
        let body = try HTTPBody.json(["a": 1])
        #expect(body.text == #"{"a":1}"#)
        #expect(body.contentType == "application/json")
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        struct Item: Encodable { let firstName: String }
        #expect(try HTTPBody.json(Item(firstName: "x"), encoder: encoder).text == #"{"first_name":"x"}"#)
        #expect(throws: EncodingError.self) { try HTTPBody.json(Double.infinity) }
    }

    @Test("a form, byte for byte")
    func form() {
        let body = HTTPBody.form([("a b", "c&d=e"), ("ü", "*-._~"), ("a b", ""), ("plus", "1+1"), ("line", "\r\n")])
        #expect(body.text == "a+b=c%26d%3De&%C3%BC=*-._%7E&a+b=&plus=1%2B1&line=%0D%0A")
        #expect(body.contentType == "application/x-www-form-urlencoded")
        #expect(HTTPBody.form([]).text == "")
    }

    @Test("text, data, and another media type")
    func others() {
        #expect(HTTPBody.text("ü").bytes == [0xC3, 0xBC])
        #expect(HTTPBody.text("ü").contentType == "text/plain; charset=utf-8")
        #expect(HTTPBody.data(Data([1, 2])).bytes == [1, 2])
        #expect(HTTPBody.text("<a/>").withContentType("text/xml").contentType == "text/xml")
    }

    @Test("a multipart form, byte for byte")
    func multipart() async throws {
        let file = temporaryPath("midstream-\(UUID().uuidString).bin")
        try Data("FILE".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        var form = MultipartForm(boundary: "BOUND")
        form.add(.field("name", "Ada"))
        form.add(.file("up", file, fileName: "a\"b\r\n.bin"))
        form.add(.body("json", try .json([1])))
        form.add(.body("raw", .bytes([65]), fileName: "r", contentType: "x/y\r\nEvil: 1"))
        let expected = [
            "--BOUND", "Content-Disposition: form-data; name=\"name\"", "", "Ada",
            "--BOUND", "Content-Disposition: form-data; name=\"up\"; filename=\"a%22b%0D%0A.bin\"",
            "Content-Type: application/octet-stream", "", "FILE",
            "--BOUND", "Content-Disposition: form-data; name=\"json\"", "Content-Type: application/json", "", "[1]",
            "--BOUND", "Content-Disposition: form-data; name=\"raw\"; filename=\"r\"", "Content-Type: x/yEvil: 1", "", "A",
            "--BOUND--", "",
        ].joined(separator: "\r\n")
        let body = HTTPBody.multipart(form)
        #expect(body.contentType == "multipart/form-data; boundary=BOUND")
        #expect(body.replayability == .replayable)
        #expect(body.length == Int64(expected.utf8.count))
        for _ in 1...2 { #expect(String(decoding: try await body.collect(), as: UTF8.self) == expected) }
    }

    @Test("a multipart form of no parts is its end")
    func emptyMultipart() async throws {
        let body = HTTPBody.multipart(MultipartForm(boundary: "B"))
        #expect(String(decoding: try await body.collect(), as: UTF8.self) == "--B--\r\n")
        #expect(body.length == 7)
    }

    @Test("a multipart form with a part that can be read once can be read once, and has no length that a part hasn't")
    func multipartOnce() async throws {
        var form = MultipartForm()
        form.add(.field("a", "1"))
        form.add(.body("b", .once(chunks("x"))))
        let body = HTTPBody.multipart(form)
        #expect(body.replayability == .once)
        #expect(body.length == nil)
        _ = try await body.collect()
        let error = await httpError { try await body.collect() }
        #expect(error?.code == .bodyNotReplayable)
    }

    @Test("a multipart form has no length where a server has said that a part has all bytes there are")
    func multipartOfAnyLength() {
        let arriving = HTTPBody.incoming(length: .max, next: { nil }, close: {})
        #expect(HTTPBody.multipart([.field("a", "1"), .body("b", arriving)]).length == nil)
    }

    @Test("a part of another length than was said is told of, also beside one of which none was said", arguments: [1, 3])
    func partOfWrongLength(length: Int64) async {
        let body = HTTPBody.multipart([.body("a", .once(chunks("xy"), length: length)), .body("b", .once(chunks("z")))])
        #expect(await httpError { try await body.collect() }?.code == .bodyUnreadable)
    }

    @Test("multipart/mixed and multipart/related, byte for byte")
    func otherMultiparts() async throws {
        var mixed = Multipart(boundary: "a b")
        mixed.add(.text("x"), headers: ["X-A": "1", "X-B": "ü"])
        mixed.add(.empty)
        let body = HTTPBody.multipart(mixed)
        #expect(body.contentType == "multipart/mixed; boundary=\"a b\"")
        let expected =
            "--a b\r\nX-A: 1\r\nX-B: ü\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nx\r\n--a b\r\n\r\n\r\n--a b--\r\n"
        #expect(String(decoding: try await body.collect(), as: UTF8.self) == expected)
        #expect(body.length == Int64(expected.utf8.count))
        let related = HTTPBody.multipart(.related(type: "a/b; c=\"d\"", start: "<1>", boundary: "b"))
        #expect(related.contentType == "multipart/related; type=\"a/b; c=\\\"d\\\"\"; start=\"<1>\"; boundary=b")
    }

    @Test("a form's part with fields of its own")
    func partHeaders() async throws {
        var form = MultipartForm(boundary: "b")
        form.add(.body("a", .bytes([120]), contentType: "x/y", headers: ["X-A": "1"]))
        let text = String(decoding: try await HTTPBody.multipart(form).collect(), as: UTF8.self)
        #expect(text == "--b\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: x/y\r\nX-A: 1\r\n\r\nx\r\n--b--\r\n")
    }

    @Test("a form's part has one disposition, by its names")
    func partDisposition() async throws {
        var form = MultipartForm(boundary: "b")
        let headers: HTTPHeaders = ["content-disposition": "form-data; name=\"other\"", "X-A": "1"]
        form.add(.body("a", .bytes([120]), fileName: "f", headers: headers))
        let text = String(decoding: try await HTTPBody.multipart(form).collect(), as: UTF8.self)
        let head = "Content-Disposition: form-data; name=\"a\"; filename=\"f\"\r\nX-A: 1"
        #expect(text == "--b\r\n\(head)\r\n\r\nx\r\n--b--\r\n")
    }

    @Test("a form's part has one media type, wherever it is given", arguments: [nil, "a/b"])
    func partType(given: String?) async throws {
        var form = MultipartForm(boundary: "b")
        form.add(.body("a", .text("x"), contentType: given, headers: ["Content-Type": "c/d", "X-A": "1"]))
        let text = String(decoding: try await HTTPBody.multipart(form).collect(), as: UTF8.self)
        let head = "Content-Disposition: form-data; name=\"a\"\r\nContent-Type: \(given ?? "c/d")\r\nX-A: 1"
        #expect(text == "--b\r\n\(head)\r\n\r\nx\r\n--b--\r\n")
    }

    @Test(
        "a boundary that can't be one, or that is in a part",
        arguments: ["", "a\r\nb", "a\"", "ü", "a ", String(repeating: "x", count: 71), "in"])
    func badBoundary(boundary: String) async {
        var form = MultipartForm(boundary: boundary)
        form.add(.field("a", "--- --in"))
        let body = HTTPBody.multipart(form)
        #expect(await httpError { try await body.collect() }?.code == .invalidRequest)
    }

    @Test("a body that is known to be none is refused before anything is sent, also when its progress is followed")
    func flaws() async {
        let stub = StubTransport.ok
        let client = testClient(transport: stub)
        let slice = HTTPBody.file(URL(fileURLWithPath: "/etc/passwd"), range: -5..<3)
        let unknown = HTTPBody.once(HTTPBody.text("a"), length: -1)
        for (body, code) in [
            (HTTPBody.multipart(MultipartForm(boundary: "")), HTTPError.Code.invalidRequest), (slice, .bodyUnreadable),
            (unknown, .bodyUnreadable),
        ] {
            for body in [body, body.mapChunks(length: nil) { $0 }] {
                let error = await httpError { try await client.send(HTTPRequest(.post, "http://h/", body: body)) }
                #expect(error?.code == code && error?.phase == .notSent && error?.request?.url.host() == "h")
            }
        }
        #expect(stub.requests.isEmpty)
    }

    @Test("boundaries of all allowed characters")
    func goodBoundary() async throws {
        for boundary in ["b", "'()+_,-./:=?", "0 9", String(repeating: "x", count: 70)] {
            _ = try await HTTPBody.multipart(MultipartForm(boundary: boundary)).collect()
        }
    }

    @Test("a field that can't be sent makes the whole unsendable")
    func badPartField() async {
        var parts = Multipart()
        parts.add(.empty, headers: ["X": "a\r\nY: b"])
        #expect(await httpError { try await HTTPBody.multipart(parts).collect() }?.code == .invalidRequest)
    }

    @Test("boundaries are random")
    func boundaries() {
        #expect(MultipartForm().boundary != MultipartForm().boundary)
        #expect(MultipartForm().boundary.utf8.count <= 70)
    }

    @Test("a file of a multipart form that is missing is told of when it is read")
    func missingFile() async {
        var form = MultipartForm()
        form.add(.file("a", URL(fileURLWithPath: "/nowhere/at/all")))
        let error = await httpError { try await HTTPBody.multipart(form).collect() }
        #expect(error?.code == .bodyUnreadable)
    }

    @Test("a multipart form is as long as its files are when it is sent")
    func growingFile() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.file([])
        var form = MultipartForm()
        form.add(.file("a", file))
        let body = HTTPBody.multipart(form)
        for size in [3, 5, 2] {
            try Data(repeating: 7, count: size).write(to: file)
            #expect(try await body.length == Int64(body.collect().count))
        }
        // Also one that grows once its part has begun.
        var reading = body.makeAsyncIterator()
        _ = try await reading.next()
        try Data(repeating: 7, count: 9).write(to: file)
        while try await reading.next() != nil {}
    }
}
