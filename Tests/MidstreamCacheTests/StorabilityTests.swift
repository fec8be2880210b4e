import Foundation
import MidstreamCacheStore
import MidstreamCore
import MidstreamTesting
import Testing

@testable import MidstreamCache

@Suite("What may be stored, and which fields of it")
struct StorabilityTests {
    private func obstacle(
        _ headers: HTTPHeaders, _ status: HTTPStatus = 200, request fields: HTTPHeaders = [:], method: HTTPMethod = .get,
        shared: Bool = false, targeted: [HTTPHeaders.Name] = []
    ) -> String? {
        let request = HTTPRequest(method, "http://cache.test/", headers: fields)
        let rules = CacheRules(isShared: shared, targetedFields: targeted)
        let response = HTTPResponse(status: status, headers: headers, request: request)
        return rules.obstacle(to: response, ResponseFields(headers, at: Date()), for: request)
    }

    private func kept(of response: HTTPResponse, shared: Bool) -> HTTPHeaders {
        let said = ResponseFields(response.headers, at: Date())
        let unwanted = StoredFields.unwanted(in: response.headers, said, rules: CacheRules(isShared: shared))
        return StoredFields.kept(of: response, said, without: unwanted)
    }

    @Test(
        "explicit freshness lets any final status be stored",
        arguments: [200, 203, 204, 299, 301, 302, 303, 307, 308, 400, 404, 410, 499, 500, 502, 503, 504, 599])
    func statuses(code: Int) {
        #expect(obstacle(["Cache-Control": "max-age=60"], HTTPStatus(code)) == nil)
        #expect(obstacle(["Expires": "x"], HTTPStatus(code)) == nil)
        #expect(obstacle([:], HTTPStatus(code)) != nil)
    }

    @Test("what speaks of this request alone isn't", arguments: [304, 401, 407, 412, 416, 103, 428, 429, 431, 511])
    func notFor(code: Int) {
        #expect(obstacle(["Cache-Control": "max-age=60"], HTTPStatus(code)) != nil)
    }

    @Test("whose it is, is told by the fields that secrets stand in, and by where they end")
    func owners() {
        let fingerprint = Fingerprint(salt: [1])
        func owner(_ fields: HTTPHeaders, _ users: [String] = []) -> String? {
            fingerprint.owner(of: HTTPRequest("http://cache.test/", headers: fields), users)
        }
        #expect(owner(["Accept": "a"]) == nil && owner(["Authorization": "a"]) == owner(["authorization": "a"]))
        #expect(owner(["Authorization": "a"]) != owner(["X-API-Key": "a"]))
        #expect(owner(["Authorization": "a"]) != owner(["Cookie": "a"]))
        #expect(owner([:], ["a", "bc"]) != owner([:], ["ab", "c"]))
        #expect(fingerprint.text(of: ["a", "bc"]) != fingerprint.text(of: ["ab", "c"]))
    }

    @Test("what has no body, since it answers HEAD, isn't")
    func head() {
        #expect(obstacle(["Cache-Control": "max-age=60"], method: .head) != nil)
    }

    @Test("no-store forbids, unless the status has to be understood and is")
    func noStore() {
        #expect(obstacle(["Cache-Control": "No-StOrE, max-age=60"]) != nil)
        #expect(obstacle(["Cache-Control": "no-store, must-understand, max-age=60"]) == nil)
        #expect(obstacle(["Cache-Control": "no-store, must-understand, max-age=60"], 599) != nil)
        #expect(obstacle(["Cache-Control": "must-understand, max-age=60"], 599) != nil)
    }

    @Test("what has to be validated each time is stored, or no validation ever comes")
    func validators() {
        #expect(obstacle(["Cache-Control": "no-cache", "ETag": "\"a\""]) == nil)
        #expect(obstacle(["Last-Modified": "x"]) == nil)
        #expect(obstacle(["Cache-Control": "no-cache"]) != nil)
    }

    @Test("a validator alone lets only those be stored of whose status that is said", arguments: [302, 402, 403, 500, 502])
    func validatorOfOther(code: Int) {
        for validator: HTTPHeaders in [["ETag": "\"a\""], ["Last-Modified": "x"]] {
            #expect(obstacle(validator, HTTPStatus(code)) != nil)
            #expect(obstacle(validator, 404) == nil && obstacle(validator, 301, shared: true) == nil)
            var headers = validator
            headers["Cache-Control"] = "public"
            #expect(obstacle(headers, HTTPStatus(code), shared: true) == nil)
            headers["Cache-Control"] = "private"
            #expect(obstacle(headers, HTTPStatus(code)) == nil)
        }
    }

    @Test("a private response isn't a shared cache's, nor one for a user unless it says so")
    func shared() {
        #expect(obstacle(["Cache-Control": "private, max-age=60"]) == nil)
        #expect(obstacle(["Cache-Control": "private, max-age=60"], shared: true) != nil)
        #expect(obstacle(["Cache-Control": "private=\"a\", max-age=60"], shared: true) == nil)
        let user: HTTPHeaders = ["Authorization": "x"]
        #expect(obstacle(["Expires": "x"], request: user) == nil)
        #expect(obstacle(["Cache-Control": "max-age=60"], request: user, shared: true) != nil)
        for word in ["public", "must-revalidate", "s-maxage=60"] {
            #expect(obstacle(["Cache-Control": "max-age=60, \(word)"], request: user, shared: true) == nil, "\(word)")
        }
    }

    @Test("Vary with a star is for nobody", arguments: ["*", "*, *", ", *", "*, Foo", "Foo, *"])
    func star(value: String) {
        #expect(obstacle(["Cache-Control": "max-age=60", "Vary": value]) != nil)
    }

    @Test("a targeted field decides about storing, too")
    func targeted() {
        let both: HTTPHeaders = ["Cache-Control": "no-store", "CDN-Cache-Control": "max-age=60"]
        #expect(obstacle(both, shared: true) != nil)
        #expect(obstacle(both, shared: true, targeted: ["CDN-Cache-Control"]) == nil)
        let other: HTTPHeaders = ["Cache-Control": "max-age=60", "CDN-Cache-Control": "no-store"]
        #expect(obstacle(other, shared: true, targeted: ["CDN-Cache-Control"]) != nil)
        let refused: HTTPHeaders = ["Cache-Control": "no-store", "CDN-Cache-Control": "max-age=60, &&"]
        #expect(obstacle(refused, shared: true, targeted: ["CDN-Cache-Control"]) != nil)
    }

    @Test("a part has to say which one it is")
    func parts() {
        let fields: HTTPHeaders = ["Cache-Control": "max-age=60", "Content-Range": "bytes 0-4/10"]
        #expect(obstacle(fields, 206) == nil)
        var more = fields
        more["Content-Length"] = "6"
        #expect(obstacle(more, 206) != nil)
        more = fields
        more["Content-Encoding"] = "gzip"
        #expect(obstacle(more, 206) != nil)
        more = fields
        more["Content-Range"] = "bytes 0-4/*"
        #expect(obstacle(more, 206) != nil)
        #expect(obstacle(["Cache-Control": "max-age=60"], 206) != nil)
        #expect(obstacle(fields, 200) != nil)
    }

    @Test("fields about the connection aren't kept, nor those that the directives name")
    func fields() {
        var headers: HTTPHeaders = [
            "Connection": "a, b", "A": "1", "b": "2", "c": "3", "Keep-Alive": "x", "Proxy-Authenticate": "x", "TE": "x",
            "Transfer-Encoding": "chunked", "Upgrade": "x", "Proxy-Connection": "x", "Proxy-Authentication-Info": "x",
            "Cache-Control": "no-cache=\"d\", private=\"e\", max-age=60", "d": "4", "e": "5", "Age": "5", "Set-Cookie": "s=1",
        ]
        headers.add("Set-Cookie", "t=2")
        let response = HTTPResponse(status: 200, headers: headers, request: HTTPRequest("http://h/"))
        let names = { (shared: Bool) in
            kept(of: response, shared: shared).map(\.name.rawValue)
        }
        #expect(names(false) == ["c", "Cache-Control", "e", "Set-Cookie", "Set-Cookie"])
        #expect(names(true) == ["c", "Cache-Control", "Set-Cookie", "Set-Cookie"])
    }

    @Test("none of them is kept where it comes alone", arguments: StoredFields.droppedNames)
    func droppedAlone(name: HTTPHeaders.Name) {
        let response = HTTPResponse(status: .ok, headers: [name: "1", "D": "1"], request: HTTPRequest("http://h/"))
        #expect(kept(of: response, shared: false).map(\.name) == ["D"])
    }

    @Test("a newer head replaces fields, but for what describes the bytes")
    func update() {
        let stored: HTTPHeaders = [
            "A": "1", "B": "1", "Content-Length": "5", "Content-Encoding": "gzip", "Content-Type": "text/a",
        ]
        let news = HTTPResponse(
            status: 304,
            headers: [
                "a": "2", "C": "2", "Content-Length": "9", "Content-Encoding": "br", "Content-Type": "text/b", "Connection": "C",
            ],
            request: HTTPRequest("http://h/"))
        let said = ResponseFields(news.headers, at: Date())
        let merged = StoredFields.updated(stored, by: news, said, rules: CacheRules())
        #expect(merged["A"] == "2" && merged["B"] == "1" && merged["C"] == nil)
        #expect(merged["Content-Length"] == "5" && merged["Content-Encoding"] == "gzip" && merged["Content-Type"] == "text/a")
    }

    @Test(
        "requests that mean the same match (RFC 9111 §4.1)",
        arguments: [
            ("Foo", ["Foo": "1"], ["Foo": "1"], true), ("foo", ["FOO": "1"], ["Foo": "1"], true),
            ("Foo", ["Foo": "1"], ["Foo": "2"], false),
            ("Foo", ["Foo": "1"], [:], false), ("Foo", [:], ["Foo": "1"], false), ("Foo", [:], [:], true),
            ("Foo, Bar", ["Foo": "1", "Bar": "2"], ["Bar": "2", "Foo": "1"], true),
            ("Foo, Bar", ["Foo": "1", "Bar": "2"], ["Foo": "1", "Bar": "3"], false),
            ("Foo", ["Foo": "1"], ["Foo": "1", "Other": "2"], true),
            ("Foo", ["Foo": "1, 2"], ["Foo": "1,2"], true), ("Foo", ["Foo": "1 ,\t2 "], ["Foo": "1,2"], true),
            ("Foo", ["Foo": "\"1, 2\""], ["Foo": "\"1,2\""], false), ("Foo", ["Foo": "1 2"], ["Foo": "12"], false),
            ("Accept-Language", ["Accept-Language": "en, de"], ["Accept-Language": "de ,EN"], true),
            ("Accept-Language", ["Accept-Language": "en, fr;q=0.5"], ["Accept-Language": "en;q=0.5, fr"], false),
            ("Accept-Language", ["Accept-Language": "en;q=1.0"], ["Accept-Language": "en"], true),
            ("Accept-Language", ["Accept-Language": "en, de"], ["Accept-Language": "fr;q=0.5, de;q=1.0"], true),
            ("Accept-Language", ["Accept-Language": "en, de"], ["Accept-Language": "fr, de"], false),
            ("Accept-Language", ["Accept-Language": "en"], ["Accept-Language": "de;q=0"], false),
            ("Authorization", ["Authorization": "a"], ["Authorization": "a"], true),
            ("Authorization", ["Authorization": "a"], ["Authorization": "A"], false),
        ] as [(String, HTTPHeaders, HTTPHeaders, Bool)])
    func vary(value: String, stored: HTTPHeaders, asked: HTTPHeaders, matches: Bool) {
        let fingerprint = Fingerprint(salt: [7])
        let names = VaryRule(["Vary": value]).names
        let selecting = SelectingFields(names, of: stored, fingerprint: fingerprint)
        #expect(selecting.match(asked, response: ["Content-Language": "de"], fingerprint: fingerprint) == matches)
        #expect(!selecting.fields.contains { $0.name == "authorization" && $0.value == "a" })
    }

    @Test("what varies by more than anybody selects by varies by anything")
    func varyLimits() {
        let names = { (count: Int) in VaryRule(["Vary": (0..<count).map { "a\($0)" }.joined(separator: ",")]) }
        #expect(names(64).names.count == 64 && !names(64).isAny)
        #expect(names(65).isAny)
        let repeated = { (count: Int) in VaryRule(["Vary": [String](repeating: "A", count: count).joined(separator: ",")]) }
        #expect(repeated(1024).names == ["a"] && !repeated(1024).isAny)
        #expect(repeated(1025).isAny)
    }

    @Test("a list of more languages than anybody chooses from is compared as it stands")
    func manyLanguages() {
        let list = { (names: [String]) -> HTTPHeaders in ["Accept-Language": names.joined(separator: ", ")] }
        let fingerprint = Fingerprint(salt: [])
        for (count, matches) in [(64, true), (65, false)] {
            let names = (0..<count).map { "a\($0)" }
            let selecting = SelectingFields(["accept-language"], of: list(names), fingerprint: fingerprint)
            #expect(selecting.match(list(names), response: [:], fingerprint: fingerprint))
            #expect(selecting.match(list(names.reversed()), response: [:], fingerprint: fingerprint) == matches)
        }
    }

    @Test("two fields of a name are one list")
    func combined() {
        var headers: HTTPHeaders = ["Foo": "1"]
        headers.add("Foo", "2")
        let fingerprint = Fingerprint(salt: [])
        let selecting = SelectingFields(["foo"], of: ["Foo": "1, 2"], fingerprint: fingerprint)
        #expect(selecting.match(headers, response: [:], fingerprint: fingerprint))
    }
}
