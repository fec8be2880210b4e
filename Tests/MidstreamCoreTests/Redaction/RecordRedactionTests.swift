import Foundation
import MidstreamCore
import TestSupport
import Testing

@Suite("A redaction withholds", .leavesNothing)
struct RecordRedactionTests {
    @Test(
        "the values of fields with secret names in JSON, whatever they are",
        arguments: [
            (#"{"password": "p", "user": "u"}"#, #"{"password": "‹withheld›", "user": "u"}"#),
            (#"{"accessToken":"a","expires_in":3}"#, #"{"accessToken":"‹withheld›","expires_in":3}"#),
            (#"[{"secret":[1,{"x":"]"}]},{"n":1}]"#, #"[{"secret":"‹withheld›"},{"n":1}]"#),
            (#"{"secret":12,"n":null}"#, #"{"secret":"‹withheld›","n":null}"#),
            (#"{"pass\u0077ord":"p"}"#, #"{"pass\u0077ord":"‹withheld›"}"#), (#"{"pwd" : tr"#, #"{"pwd" : "‹withheld›""#),
            (#"{"token":"cut of"#, #"{"token":"‹withheld›""#), (#"{"n":"a \"token\": \"b\""}"#, #"{"n":"a \"token\": \"b\""}"#),
            (#"{"code":"not_found","key":"k"}"#, #"{"code":"not_found","key":"k"}"#),
            (#"{"iban":"DE"}"#, #"{"iban":"‹withheld›"}"#),
            (#"["https://h/?a=1&sig=S",{"u":"http://h/?a=1"}]"#, #"["‹withheld›",{"u":"http://h/?a=1"}]"#),
            (#"{"u":"https:\/\/h\/?a=1\u0026sig=S"}"#, #"{"u":"‹withheld›"}"#),
            (#"{"u":"https://h/?sid=1"}"#, #"{"u":"‹withheld›"}"#),
            (#"{"u":"https://h/?a=1\u0026sig=S\u00"#, #"{"u":"‹withheld›""#),
            (#"{"u":"wss://h/?token=S"}"#, #"{"u":"‹withheld›"}"#), (#"{"u":"https://h/a\/b"}"#, #"{"u":"https://h/a\/b"}"#),
        ])
    func json(text: String, shown: String) {
        let redaction = Redaction(queryItems: ["sid"], jsonFields: ["IBAN"])
        #expect(redaction.text(Array(text.utf8), contentType: "application/problem+json; charset=utf-8") == shown)
    }

    @Test(
        "what has a secret's name in JSON, in a form and in a URL as well",
        arguments: [
            "accessToken", "access_token", "Access-Token", "sessionToken", "csrf_token", "clientSecret", "client_assertion",
            "assertion", "code_verifier", "passphrase", "privateKey", "secret_access_key",
            "newPassword", "current_password", "confirm-password", "passwordConfirmation", "subject_token", "deviceCode",
            "id_token_hint", "authorization", "Authorization", "private_token", "apiToken", "api_token", "access_key",
            "subscription-key", "client_token", "SecretID", "identityToken", "exaApiKey", "TAVILY_API_KEY",
            "oauth_token", "oauth_token_secret", "oauth_signature", "oauth_verifier", "tokenSecret", "consumer_secret",
        ])
    func sameNames(name: String) {
        let (redaction, form) = (Redaction(), "application/x-www-form-urlencoded")
        #expect(
            redaction.text(Array(#"{"\#(name)":"S"}"#.utf8), contentType: "application/json") == #"{"\#(name)":"‹withheld›"}"#)
        #expect(redaction.text(Array("a=b&\(name)=S".utf8), contentType: form) == "a=b&\(name)=‹withheld›")
        #expect(redaction.url("http://h/?\(name)=S") == "http://h/?\(name)=‹withheld›")
    }

    @Test(
        "what is JSON by its subtype, also in a curl command",
        arguments: ["text/json", "Text/X-JSON ; charset=utf-8", "application/x-json", "text/x-ndjson", "application/json"])
    func jsonTypes(type: String) {
        let shown = #"{"password":"‹withheld›"}"#
        let request = HTTPRequest(
            .post, "http://h/", headers: ["Content-Type": type], body: .text(#"{"password":"S3CR3T"}"#))
        #expect(Redaction().text(request.body.bytes ?? [], contentType: type) == shown)
        #expect(request.curlCommand().contains(shown))
    }

    @Test("names of one's own, in a curl command")
    func curlCommand() {
        let redaction = Redaction(headers: ["X-Session"], queryItems: ["sess"], jsonFields: ["iban"], mark: "***")
        let request = HTTPRequest(
            .post, "http://h/?sess=S3CR3T",
            headers: ["Content-Type": "application/json", "X-Session": "S3CR3T", "Authorization": "S3CR3T"],
            body: .text(#"{"iban":"S3CR3T","a":1}"#))
        let command = request.curlCommand(redaction: redaction)
        #expect(!command.contains("S3CR3T"))
        #expect(command.hasSuffix(#"--data-raw '{"iban":"***","a":1}' 'http://h/?sess=***'"#), "\(command)")
    }

    @Test(
        "what each event of a stream has of it in its data",
        arguments: [
            ("data: {\"token\":\"S\"}\n\ndata: [DONE]\n\n", "data: {\"token\":\"‹withheld›\"}\n\ndata: [DONE]\n\n"),
            ("data:a=b&token=S\r\n\r\nid: 7\r\n\r\n", "data:a=b&token=‹withheld›\r\n\r\nid: 7\r\n\r\n"),
            ("event: token\r: {\"pwd\":1}\rdata\rretry: 3\r\r", "event: token\r: {\"pwd\":\"‹withheld›\"}\rdata\rretry: 3\r\r"),
            // Each is searched by itself: all data together doesn't begin as JSON.
            ("data: hello\n\ndata: {\"token\":\"S\"}\n\n", "data: hello\n\ndata: {\"token\":\"‹withheld›\"}\n\n"),
            // Over several lines: here the JSON is one value.
            ("data: {\"token\":\ndata: \"S\"}\n\n", "data: {\"token\":\ndata: \"‹withheld›\"}\n\n"),
            ("data: {\"token\":[\nid: 1\ndata: \"S\"]}\n\n", "data: ‹withheld›\nid: 1\ndata: ‹withheld›\n\n"),
            ("data: {\"token\":\"cut o", "data: {\"token\":\"‹withheld›\""), ("\n\ndat", "\n\ndat"), ("", ""),
            // What isn't a line of a stream.
            ("id: 1\n  \"token\": \"S\"\n", "id: 1\n‹withheld›\n"),
            ("{\n  \"token\": \"S\"\n}", "{\n  \"token\": \"‹withheld›\"\n}"),
            ("a=b&token=S", "a=b&token=‹withheld›"),
        ])
    func events(text: String, shown: String) {
        #expect(Redaction().text(Array(text.utf8), contentType: "text/event-stream; charset=utf-8") == shown)
        #expect(Redaction().wholeText(Array(text.utf8), contentType: "text/event-stream") == shown)
    }

    @Test("the same behind a byte order mark")
    func markedEvents() {
        let text = Redaction().wholeText(Array("\u{FEFF}data: {\"pwd\":1}\n".utf8), contentType: "text/event-stream")
        #expect(text == "\u{FEFF}data: {\"pwd\":\"‹withheld›\"}\n")
    }

    @Test("text in a curl command that only mentions JSON in its type")
    func mentionsJSON() {
        let request = HTTPRequest(
            .post, "http://h/", headers: ["Content-Type": "text/plain; profile=json"],
            body: .text(#"{"password":"S3CR3T"}"#))
        #expect(request.curlCommand().hasSuffix("--data-raw '‹withheld›' http://h/"))
    }

    @Test("names that are added later, without regard to case")
    func addedNames() {
        var redaction = Redaction()
        redaction.jsonFields.insert("accountNumber")
        redaction.queryItems.insert("SID")
        let json = redaction.text(Array(#"{"accountNumber":"DE"}"#.utf8), contentType: "application/json")
        #expect(json == #"{"accountNumber":"‹withheld›"}"#)
        #expect(redaction.url("http://h/?sid=7") == "http://h/?sid=‹withheld›")
        #expect(redaction.url("http://h/?a[exaApiKey]=7") == "http://h/?a[exaApiKey]=‹withheld›")
        // Whatever else the name has, such as what isn't UTF-8.
        #expect(redaction.url("http://h/?a%FF%5Bsid%5D=7&%sid=7") == "http://h/?a%FF%5Bsid%5D=‹withheld›&%sid=7")
        // The value begins with a combining mark.
        #expect(redaction.url("http://h/?sid=\u{301}7") == "http://h/?sid=‹withheld›")
    }

    @Test(
        "a URL in an event, though a combining mark stands at an edge",
        arguments: ["\u{301}x://h/?sid=7", "https://\u{301}h/?sid=7"])
    func combiningMarks(url: String) {
        let event = Redaction(queryItems: ["sid"]).event("went to \(url)", ["to": .string(url)])
        let shown = url.replacing("=7", with: "=‹withheld›")
        #expect(event.text == "went to \(shown)" && event.attributes == ["to": .string(shown)])
    }

    @Test("a secret that a character combines with what stands around it", arguments: ["\u{301}", "\u{200D}"])
    func combined(mark: String) {
        let own = Redaction(queryItems: ["sid"])
        #expect(own.ownText("It failed at https://\(mark)h/?sid=7.") == "It failed at https://\(mark)h/?sid=‹withheld›")
        #expect(own.value("</?a>\(mark), </?sid=7>", of: "link", in: [:]) == "</?a>\(mark), </?sid=‹withheld›>")
        let url = "https://h/?a=1&\(mark)b=2&token=\(mark)S&\(mark)c=3"
        #expect(URLText.removing(from: url) { $0.hasPrefix("token") } == "https://h/?a=1&\(mark)b=2&\(mark)c=3")
        #expect(HTTPRequest(url).secretItems == ["token=\(mark)S"])
    }

    @Test(
        "a value that is a URL with an own name in it, however often it is encoded",
        arguments: [
            "/x%3Fsid%3D7", "https%3A%2F%2Fh%2F1%3Fa%3D1%26SID%3D7", "/x?sid=7", "/x%253Fa%255Bsid%255D%253D7", "x%23my+id%3D7",
        ])
    func urlsInValues(value: String) {
        let (redaction, form) = (Redaction(queryItems: ["sid", "my id"]), "application/x-www-form-urlencoded")
        #expect(redaction.url("https://h/?rd=\(value)&n=1") == "https://h/?rd=‹withheld›&n=1")
        #expect(redaction.url("https://h/#/a?rd=\(value)&n=1") == "https://h/#/a?rd=‹withheld›&n=1")
        #expect(redaction.text(Array("rd=\(value)&n=1".utf8), contentType: form) == "rd=‹withheld›&n=1")
    }

    @Test(
        "what stands in each URL of a sentence that an event has as an attribute",
        arguments: ["c: http://h/a?page=1 to http://h/b?sid=7", "http://h/a?x to http://h/b?sid=7", "c: http://h/a b?sid=7"])
    func sentences(text: String) {
        let event = Redaction(queryItems: ["sid"]).event("x: \(text)", ["outcome": .string(text)])
        #expect(!event.text.contains("7") && event.attributes.keys.sorted() == ["outcome"])
        #expect(event.attributes["outcome"].map { "\($0)" }?.contains("7") == false)
    }

    @Test("items of forms and of URLs, and fields")
    func others() {
        let redaction = Redaction(headers: ["X-Session"], queryItems: ["Session ID"], mark: "REDACTED")
        let form = redaction.text(
            Array("a=b&client_secret=s&session+id=7".utf8), contentType: "application/x-www-form-urlencoded")
        #expect(form == "a=b&client_secret=REDACTED&session+id=REDACTED")
        let nested = HTTPBody.form([("user[password]", "s"), ("a[session id][]", "7"), ("a[b]", "1")])
        #expect(
            redaction.text(nested.bytes ?? [], contentType: nested.contentType)
                == "user%5Bpassword%5D=REDACTED&a%5Bsession+id%5D%5B%5D=REDACTED&a%5Bb%5D=1")
        #expect(
            redaction.url("https://u:p@h/a?session%20id=7&b=1#token=x")
                == "https://REDACTED@h/a?session%20id=REDACTED&b=1#token=REDACTED")
        let headers: HTTPHeaders = ["X-Session": "7", "Authorization": "a", "Location": "/?token=x", "B": "b\u{1}"]
        #expect(
            headers.map { redaction.value($0.value, of: $0.name, in: headers) } == [
                "REDACTED", "REDACTED", "/?token=REDACTED", "b\\u{1}",
            ])
    }

    @Test("what isn't text, and a character that is cut off")
    func bytes() {
        let redaction = Redaction()
        #expect(redaction.text(Array("aé".utf8.dropLast()), contentType: "text/plain") == "a")
        let json = redaction.text(Array("\u{FEFF} {\"access_token\":\"canary\"}".utf8), contentType: "text/html; charset=UTF-8")
        #expect(json?.contains("access_token") == true && json?.contains("canary") == false)
        let login = redaction.text(Array("oauth_token=A&oauth_token_secret=S&user_id=1".utf8), contentType: "text/html")
        #expect(login == "oauth_token=‹withheld›&oauth_token_secret=‹withheld›&user_id=1")
        #expect(redaction.text(Array("a token=1".utf8), contentType: "text/plain") == "a token=1")
        #expect(redaction.text(Array("<p>{\"token\":1}".utf8), contentType: "text/html") == "<p>{\"token\":1}")
        #expect(redaction.text([0, 1], contentType: "text/plain") == nil)
        #expect(redaction.text([0xFF, 0x41], contentType: "text/plain") == nil)
        #expect(redaction.text(Array("a".utf8), contentType: "multipart/form-data; boundary=x") == nil)
        #expect(redaction.text([], contentType: "text/plain") == "")
    }

    @Test("in place of a whole body stands text that lacks nothing, or none")
    func wholeBodies() {
        let redaction = Redaction(queryItems: ["pin"])
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        for bytes in [Array("aé".utf8.dropLast()), [97, 0], [97, 0xE9]] as [[UInt8]] {
            #expect(redaction.wholeText(bytes, contentType: "text/plain") == nil)
        }
        let json = redaction.wholeText(mark + Array(#"{"password":"S"}"#.utf8), contentType: "application/json")
        #expect(json.map { Array($0.utf8) } == mark + Array(#"{"password":"‹withheld›"}"#.utf8))
        let form = "application/x-www-form-urlencoded"
        #expect(redaction.wholeText(Array("pin=S".utf8), contentType: form) == "pin=‹withheld›")
        #expect(redaction.wholeText(mark + Array("pin=S".utf8), contentType: form) == nil)
        #expect(redaction.wholeText([], contentType: "text/plain") == "")
    }
}
