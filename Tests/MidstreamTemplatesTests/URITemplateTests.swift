import Foundation
import Midstream
import MidstreamTemplates
import MidstreamTesting
import TestSupport
import Testing

/// The examples of RFC 6570, sections 1.2 and 3.2, with the values of section 3.2.
@Suite("URI templates are expanded as the RFC has it", .leavesNothing)
struct URITemplateTests {
    private static var values: [String: (any URITemplateValue)?] {
        [
            "count": ["one", "two", "three"], "dom": ["example", "com"], "dub": "me/too", "hello": "Hello World!", "half": "50%",
            "var": "value", "who": "fred", "base": "http://example.com/home/", "path": "/foo/bar",
            "list": ["red", "green", "blue"],
            "keys": ["semi": ";", "dot": ".", "comma": ","] as KeyValuePairs, "v": "6", "x": 1024, "y": "768", "empty": "",
            "empty_keys": [String: String](), "undef": nil,
        ]
    }

    private static let examples: [(template: URITemplate, expansions: [String])] = [
        // 1.2, levels 1 to 4
        ("{var}", ["value"]), ("{hello}", ["Hello%20World%21"]), ("{+var}", ["value"]), ("{+hello}", ["Hello%20World!"]),
        ("{+path}/here", ["/foo/bar/here"]), ("here?ref={+path}", ["here?ref=/foo/bar"]), ("X{#var}", ["X#value"]),
        ("X{#hello}", ["X#Hello%20World!"]), ("map?{x,y}", ["map?1024,768"]), ("{x,hello,y}", ["1024,Hello%20World%21,768"]),
        ("{+x,hello,y}", ["1024,Hello%20World!,768"]), ("{+path,x}/here", ["/foo/bar,1024/here"]),
        ("{#x,hello,y}", ["#1024,Hello%20World!,768"]), ("{#path,x}/here", ["#/foo/bar,1024/here"]), ("X{.var}", ["X.value"]),
        ("X{.x,y}", ["X.1024.768"]), ("{/var}", ["/value"]), ("{/var,x}/here", ["/value/1024/here"]),
        ("{;x,y}", [";x=1024;y=768"]), ("{;x,y,empty}", [";x=1024;y=768;empty"]), ("{?x,y}", ["?x=1024&y=768"]),
        ("{?x,y,empty}", ["?x=1024&y=768&empty="]), ("?fixed=yes{&x}", ["?fixed=yes&x=1024"]),
        ("{&x,y,empty}", ["&x=1024&y=768&empty="]),
        ("{var:3}", ["val"]), ("{var:30}", ["value"]), ("{list}", ["red,green,blue"]), ("{list*}", ["red,green,blue"]),
        ("{keys}", ["semi,%3B,dot,.,comma,%2C"]), ("{keys*}", ["semi=%3B,dot=.,comma=%2C"]), ("{+path:6}/here", ["/foo/b/here"]),
        ("{+list}", ["red,green,blue"]), ("{+list*}", ["red,green,blue"]), ("{+keys}", ["semi,;,dot,.,comma,,"]),
        ("{+keys*}", ["semi=;,dot=.,comma=,"]), ("{#path:6}/here", ["#/foo/b/here"]), ("{#list}", ["#red,green,blue"]),
        ("{#list*}", ["#red,green,blue"]), ("{#keys}", ["#semi,;,dot,.,comma,,"]), ("{#keys*}", ["#semi=;,dot=.,comma=,"]),
        ("X{.var:3}", ["X.val"]), ("X{.list}", ["X.red,green,blue"]), ("X{.list*}", ["X.red.green.blue"]),
        ("X{.keys}", ["X.semi,%3B,dot,.,comma,%2C"]), ("{/var:1,var}", ["/v/value"]), ("{/list}", ["/red,green,blue"]),
        ("{/list*}", ["/red/green/blue"]), ("{/list*,path:4}", ["/red/green/blue/%2Ffoo"]),
        ("{/keys}", ["/semi,%3B,dot,.,comma,%2C"]), ("{/keys*}", ["/semi=%3B/dot=./comma=%2C"]), ("{;hello:5}", [";hello=Hello"]),
        ("{;list}", [";list=red,green,blue"]), ("{;list*}", [";list=red;list=green;list=blue"]),
        ("{;keys}", [";keys=semi,%3B,dot,.,comma,%2C"]), ("{;keys*}", [";semi=%3B;dot=.;comma=%2C"]), ("{?var:3}", ["?var=val"]),
        ("{?list}", ["?list=red,green,blue"]), ("{?list*}", ["?list=red&list=green&list=blue"]),
        ("{?keys}", ["?keys=semi,%3B,dot,.,comma,%2C"]), ("{?keys*}", ["?semi=%3B&dot=.&comma=%2C"]), ("{&var:3}", ["&var=val"]),
        ("{&list}", ["&list=red,green,blue"]), ("{&list*}", ["&list=red&list=green&list=blue"]),
        ("{&keys}", ["&keys=semi,%3B,dot,.,comma,%2C"]), ("{&keys*}", ["&semi=%3B&dot=.&comma=%2C"]),
        // 3.2.1, variable expansion
        ("{count}", ["one,two,three"]), ("{count*}", ["one,two,three"]), ("{/count}", ["/one,two,three"]),
        ("{/count*}", ["/one/two/three"]), ("{;count}", [";count=one,two,three"]),
        ("{;count*}", [";count=one;count=two;count=three"]),
        ("{?count}", ["?count=one,two,three"]), ("{?count*}", ["?count=one&count=two&count=three"]),
        ("{&count*}", ["&count=one&count=two&count=three"]),
        // 3.2.2, simple
        ("{half}", ["50%25"]), ("O{empty}X", ["OX"]), ("O{undef}X", ["OX"]), ("{x,y}", ["1024,768"]), ("?{x,empty}", ["?1024,"]),
        ("?{x,undef}", ["?1024"]), ("?{undef,y}", ["?768"]),
        // 3.2.3, reserved
        ("{+half}", ["50%25"]), ("{base}index", ["http%3A%2F%2Fexample.com%2Fhome%2Findex"]),
        ("{+base}index", ["http://example.com/home/index"]), ("O{+empty}X", ["OX"]), ("O{+undef}X", ["OX"]),
        ("up{+path}{var}/here", ["up/foo/barvalue/here"]), ("{+path,x}/here", ["/foo/bar,1024/here"]),
        // 3.2.4, fragment
        ("{#var}", ["#value"]), ("{#hello}", ["#Hello%20World!"]), ("{#half}", ["#50%25"]), ("foo{#empty}", ["foo#"]),
        ("foo{#undef}", ["foo"]),
        // 3.2.5, labels
        ("{.who}", [".fred"]), ("{.who,who}", [".fred.fred"]), ("{.half,who}", [".50%25.fred"]),
        ("www{.dom*}", ["www.example.com"]),
        ("X{.empty}", ["X."]), ("X{.undef}", ["X"]), ("X{.keys*}", ["X.semi=%3B.dot=..comma=%2C"]), ("X{.empty_keys}", ["X"]),
        ("X{.empty_keys*}", ["X"]),
        // 3.2.6, path segments
        ("{/who}", ["/fred"]), ("{/who,who}", ["/fred/fred"]), ("{/half,who}", ["/50%25/fred"]),
        ("{/who,dub}", ["/fred/me%2Ftoo"]),
        ("{/var,empty}", ["/value/"]), ("{/var,undef}", ["/value"]),
        // 3.2.7, path parameters
        ("{;who}", [";who=fred"]), ("{;half}", [";half=50%25"]), ("{;empty}", [";empty"]),
        ("{;v,empty,who}", [";v=6;empty;who=fred"]),
        ("{;v,bar,who}", [";v=6;who=fred"]), ("{;x,y,undef}", [";x=1024;y=768"]),
        // 3.2.8 and 3.2.9, the query and its continuation
        ("{?who}", ["?who=fred"]), ("{?half}", ["?half=50%25"]), ("{?x,y,undef}", ["?x=1024&y=768"]), ("{&who}", ["&who=fred"]),
        ("{&half}", ["&half=50%25"]), ("{&x,y,undef}", ["&x=1024&y=768"]),
    ]

    @Test("in all its examples")
    func examples() throws {
        #expect(Self.examples.count > 110)
        for (template, expansions) in Self.examples {
            #expect(expansions.contains(try template.expand(Self.values)), "\(template)")
        }
    }

    @Test("and beyond: characters, not bytes, are counted, and literals are encoded")
    func beyond() throws {
        #expect(try URITemplate("{a:2}").expand(["a": "äöü"]) == "%C3%A4%C3%B6")
        #expect(try URITemplate("/ü%20/{+a}").expand(["a": "100%/%41"]) == "/%C3%BC%20/100%25/%41")
        #expect(try URITemplate("{a.b}{c%20d}{_}").expand(["a.b": 1, "c%20d": true, "_": 0.5]) == "1true0.5")
        #expect(try URITemplate("{?l*}").expand(["l": [String]()]) == "")
        #expect(try URITemplate("").expand([:]) == "")
        #expect(URITemplate("{a}{?b,a,c:3}").variables == ["a", "b", "c"])
    }

    @Test(
        "what is no template is refused with a reason",
        arguments: [
            "{", "}", "a}b", "{a", "{}", "{+}", "{a,}", "{,a}", "{a b}", "{=a}", "{!a}", "{|a}", "{@a}", "{a:0}", "{a:}",
            "{a:10000}",
            "{a:-1}", "{a:3*}", "{a**}", "{a..b}", "{.}", "{a%2}", "{ä}", "{{a}}", "a b", "a\"b", "a\\b", "a^b", "a\nb",
            "{list:3}",
        ])
    func malformed(text: String) async throws {
        let stub = StubTransport(status: .ok)
        let url = URITemplate(text).expanded(["a": 1, "list": ["x"]])
        for attempt in [
            { _ = try URITemplate(text).expand(["a": 1, "list": ["x"]]) },
            { _ = try await testClient(baseURL: "https://h", transport: stub).send(HTTPRequest(url)) },
        ] as [() async throws -> Void] {
            let error = await #expect(throws: HTTPError.self) { try await attempt() }
            #expect(error?.code == .invalidRequest && error?.message.contains("can't be expanded") == true)
        }
        #expect(stub.requests.isEmpty)
    }

    @Test(
        "a value that would make a step of a segment of the path is refused",
        arguments: [
            ("users/{v}/delete", ".."), ("users/{v}", "."), ("{v}/a", ".."), ("a/.{v}/b", "."), ("a/{v}{v}", "."),
            ("a{/v}/b", ".."), ("../a{/v}", ".."), ("a{/v}.", "."), ("a/..{/v}..", ""),
            ("{+v}", "a/../b"), ("{+v}/x", "../b"), ("a/{+v}?q", "b/%2E%2e"), ("/a/{+v}", "./b"), ("a/{v,w}", ".."),
            ("a{/list*}/b", "x"), ("a/{v}{?list}", ".."), ("a/{v}{#v}", ".."),
            ("a/{v}../b", ""), ("a/{v}.{v}", ""), ("a/.{v:1}", ""), ("{+v}../b", ""),
            ("a/{w}.{none}", ""), ("a/..{none}/b", ""), ("a/.{w}{?v}", ""),
        ])
    func steps(template: String, value: String) async throws {
        let values: [String: (any URITemplateValue)?] = ["v": value, "list": ["x", "..", "y"], "w": nil]
        let stub = StubTransport(status: .ok)
        let client = testClient(baseURL: "https://h/v2", transport: stub)
        let attempts: [() async throws -> Void] = [
            { _ = try URITemplate(template).expand(values) },
            { _ = try await client.get(.template(URITemplate(template), values)).data() },
        ]
        for attempt in attempts {
            let error = await #expect(throws: HTTPError.self) { try await attempt() }
            #expect(error?.code == .invalidRequest && error?.message.contains("a step in it") == true)
        }
        #expect(stub.requests.isEmpty)
    }

    @Test("and one that makes none isn't")
    func noSteps() throws {
        let values: [String: (any URITemplateValue)?] = ["v": "..", "empty": "", "three": "..."]
        let expected = [
            "../{three}": "../...", "a/x{v}": "a/x..", "a{?v}": "a?v=..", "a/..{?v}": "a/..?v=..", "a{#v}": "a#..",
            "a;{v}/b": "a;../b", "..{/none,none}": "..", "../..{/three}": "../../...", "a/..{/empty}": "a/../",
            "a/..{?none}": "a/..", "a/..{#none}": "a/..", "a/{three}/b": "a/.../b", "a/{v,three}": "a/..,...",
            "{?v}{&three}": "?v=..&three=...",
            "a{?v}/{v}/b": "a?v=../../b", "a/{empty}/b": "a//b", "a/../b{empty}": "a/../b", "a/..{#empty}": "a/..#",
        ]
        for (template, text) in expected { #expect(try URITemplate(template).expand(values) == text) }
    }

    @Test(
        "an error shows no secrets of the template",
        arguments: ["users/{v}?api_key=CANARY", "https://u:CANARY@h/{v}", "{scheme}://u:CANARY@h/{v}", "users/{v?api_key=CANARY"])
    func secrets(template: String) async {
        let client = testClient(baseURL: "https://h", transport: StubTransport.ok)
        let attempts: [() async throws -> Void] = [
            { _ = try URITemplate(template).expand(["v": ".."]) },
            { _ = try await client.get(.template(URITemplate(template), ["v": ".."])).data() },
        ]
        for attempt in attempts {
            let error = await #expect(throws: HTTPError.self) { try await attempt() }
            let shown = "\(String(reflecting: error)) \(error?.message ?? "")"
            #expect(shown.contains("can't be expanded") && !shown.contains("CANARY"))
        }
    }

    @Test("requests know the template as their route")
    func route() async throws {
        let stub = StubTransport(status: .ok)
        let client = testClient(baseURL: "https://h", transport: stub)
        _ = try await client.get(.template("users/{id}{?page}", ["id": "a/b", "page": nil])).data()
        #expect(stub.requests.first?.urlText == "https://h/users/a%2Fb")
        #expect(stub.requests.first?.route == "users/{id}{?page}")
    }
}
