import Foundation
import MidstreamCacheStore
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamCache

@Suite("How long responses are fresh, and how old they are", .leavesNothing, .timeLimit(.minutes(10)))
struct FreshnessTests {
    private static let moment = Date(timeIntervalSince1970: 1_700_000_000)
    private static func date(_ offset: Double) -> String { HTTPDate.text(moment + offset) }

    private func head(_ headers: HTTPHeaders, status: HTTPStatus = 200, rules: CacheRules, delay: Double = 0) -> StoredHead {
        let request = HTTPRequest("http://cache.test/")
        return StoredHead(
            HTTPResponse(status: status, headers: headers, request: request), to: request, requestTime: Self.moment - delay,
            responseTime: Self.moment, rules: rules, fingerprint: Fingerprint(salt: [1]))
    }

    @Test(
        "what says for how long, the first of them counts",
        arguments: [
            (["Cache-Control": "max-age=60", "Expires": date(900)], 60, 60), (["Expires": date(900), "Date": date(0)], 900, 900),
            (["Expires": date(900)], 900, 900), (["Expires": date(-900)], 0, 0), (["Expires": "0"], 0, 0),
            (["Cache-Control": "s-maxage=5, max-age=60"], 60, 5), (["Cache-Control": "s-maxage=5"], 0, 5),
            (["Cache-Control": "max-age=60", "Expires": "soon"], 60, 60), ([:], 0, 0),
            (["Last-Modified": date(-1000), "Date": date(0)], 100, 100), (["Last-Modified": date(1000)], 0, 0),
            (["Last-Modified": date(-86_400 * 365)], 86_400, 86_400),
            (["Cache-Control": "max-age=x", "Expires": date(900)], 0, 0),
            (["Expires": "Thu, 18 Aug 2050 02:01:18 gMT"], 844_400_878, 844_400_878),
            (["Expires": "Thu, 18 Aug 50 02:01:18 GMT"], 0, 0),
            (["Expires": "Sun, 21 Nov 2286 04:46:39 GMT"], 8_300_039_599, 8_300_039_599),
        ] as [(HTTPHeaders, Double, Double)])
    func lifetime(headers: HTTPHeaders, asPrivate: Double, asShared: Double) {
        for (isShared, seconds) in [(false, asPrivate), (true, asShared)] {
            let rules = CacheRules(isShared: isShared)
            #expect(rules.lifetime(of: head(headers, rules: rules)) == seconds, "\(isShared)")
        }
    }

    @Test(
        "only some statuses are guessed about, and those that are public",
        arguments: [200, 203, 204, 301, 404, 405, 410, 414, 501])
    func heuristics(code: Int) {
        let rules = CacheRules()
        let headers: HTTPHeaders = ["Last-Modified": Self.date(-1000)]
        #expect(rules.lifetime(of: head(headers, status: HTTPStatus(code), rules: rules)) == 100)
        for code in [201, 202, 302, 403, 502, 503, 599] {
            #expect(rules.lifetime(of: head(headers, status: HTTPStatus(code), rules: rules)) == 0, "\(code)")
        }
        var open = headers
        open["Cache-Control"] = "public"
        #expect(rules.lifetime(of: head(open, status: 599, rules: rules)) == 100)
    }

    @Test("a targeted field stands for Cache-Control and Expires, when it can be read")
    func targeted() {
        let rules = CacheRules(isShared: true, targetedFields: ["Mine", "CDN-Cache-Control"])
        let lifetime = { (headers: HTTPHeaders) in rules.lifetime(of: self.head(headers, rules: rules)) }
        #expect(lifetime(["CDN-Cache-Control": "max-age=9", "Cache-Control": "max-age=60, s-maxage=70"]) == 9)
        #expect(lifetime(["CDN-Cache-Control": "public", "Expires": Self.date(900)]) == 0)
        #expect(lifetime(["CDN-Cache-Control": "max-age=9", "Mine": "max-age=8"]) == 8)
        #expect(lifetime(["CDN-Cache-Control": "max-age=\"9\"", "Cache-Control": "max-age=60"]) == 60)
    }

    @Test(
        "how old it was when it came",
        arguments: [
            ([:], 0), (["Age": "30"], 30), (["Age": "30", "Date": date(-10)], 30), (["Age": "30", "Date": date(-100)], 100),
            (["Date": date(100)], 0), (["Age": "7200, 0"], 7200), (["Age": "0, 7200"], 0), (["Age": "abc"], 0),
            (["Age": "-5"], 0),
            (["Age": "7200.0"], 0), (["Age": "2147483649"], 2_147_483_648), (["Date": "yesterday"], 0),
        ] as [(HTTPHeaders, Double)])
    func age(headers: HTTPHeaders, seconds: Double) {
        let rules = CacheRules()
        let head = head(headers, rules: rules)
        #expect(rules.age(of: head, at: Self.moment) == seconds)
        #expect(rules.age(of: head, at: Self.moment + 5) == seconds + 5)
    }

    @Test("the time that the exchange took counts, and a clock that went back proves nothing")
    func clocks() {
        let rules = CacheRules()
        let slow = head(["Age": "30", "Cache-Control": "max-age=60"], rules: rules, delay: 4)
        #expect(rules.age(of: slow, at: Self.moment) == 34)
        #expect(rules.age(of: slow, at: Self.moment - 0.5) == 34)
        #expect(rules.age(of: slow, at: Self.moment - 1) == .infinity)
        #expect(rules.reuse(slow, for: .plain, at: Self.moment - 1) == .validate(.stale))
        for (wanted, reuse) in [("max-stale=99999", .validate(.stale)), ("max-stale", .stale(.infinity))] as [(String, Reuse)] {
            let demand = CacheDemand(HTTPRequest("http://h/", headers: ["Cache-Control": wanted]))
            #expect(rules.reuse(slow, for: demand, at: Self.moment - 1) == reuse, "\(wanted)")
        }
    }

    @Test(
        "what the request wants is obeyed (RFC 9111 §5.2.1)",
        arguments: [
            ("max-age=100", "", 50, .fresh(50)), ("max-age=100", "no-cache", 50, .validate(.demanded)),
            ("max-age=100", "max-age=0", 0, .validate(.tooOld)), ("max-age=100", "max-age=40", 50, .validate(.tooOld)),
            ("max-age=100", "max-age=60", 50, .fresh(50)), ("max-age=100", "min-fresh=60", 50, .validate(.notFreshEnough)),
            ("max-age=100", "min-fresh=40", 50, .fresh(50)), ("max-age=100", "max-stale=10", 105, .stale(5)),
            ("max-age=100", "max-stale=10", 111, .validate(.stale)), ("max-age=100", "max-stale", 9999, .stale(9899)),
            ("max-age=100, must-revalidate", "max-stale", 105, .validate(.stale)),
            ("no-cache, max-age=100", "", 0, .validate(.noCache)),
            ("max-age=100, stale-while-revalidate=10", "", 109, .staleWhileRevalidating(9)),
            ("max-age=100, stale-while-revalidate=10", "", 110, .validate(.stale)),
            ("max-age=100, stale-while-revalidate=10", "min-fresh=1", 105, .validate(.stale)),
            ("max-age=100, stale-while-revalidate=10, must-revalidate", "", 105, .validate(.stale)),
            ("max-age=100, immutable", "max-age=0", 50, .fresh(50)),
            ("max-age=100, immutable", "max-age=0", 150, .validate(.stale)),
            ("max-age=100, immutable", "no-cache", 50, .validate(.demanded)), ("max-age=0", "", 0, .validate(.stale)),
            ("max-age=100, proxy-revalidate", "max-stale", 105, .stale(5)),
            ("max-age=100", "nothing-to-see-here", 50, .fresh(50)),
        ] as [(String, String, Double, Reuse)])
    func requestDirectives(response: String, request: String, after: Double, reuse: Reuse) {
        let rules = CacheRules()
        let head = head(["Cache-Control": response], rules: rules)
        let fields: HTTPHeaders = request.isEmpty ? [:] : ["Cache-Control": request]
        #expect(rules.reuse(head, for: CacheDemand(HTTPRequest("http://h/", headers: fields)), at: Self.moment + after) == reuse)
    }

    @Test("what has to be validated each time stands in for no error, and nothing does for who wants the server")
    func onError() {
        let (rules, later) = (CacheRules(), Self.moment + 101)
        let strict = head(["Cache-Control": "max-age=100, no-cache, stale-if-error=99"], rules: rules)
        #expect(!rules.mayAnswerOnError(strict, for: .plain, at: later))
        let lax = head(["Cache-Control": "max-age=100, stale-if-error=99"], rules: rules)
        let reload = CacheDemand(HTTPRequest("http://h/", headers: ["Cache-Control": "no-cache"]))
        #expect(rules.mayAnswerOnError(lax, for: .plain, at: later) && !rules.mayAnswerOnError(lax, for: reload, at: later))
    }

    @Test("what is confirmed without a date is as old as its confirmation")
    func confirmedWithoutDate() {
        let (rules, request, later) = (CacheRules(), HTTPRequest("http://cache.test/"), Self.moment + 100)
        let confirmed = head(["Cache-Control": "max-age=60", "Date": Self.date(0)], rules: rules)
            .freshened(
                by: HTTPResponse(status: 304, request: request), to: request, requestTime: later, responseTime: later,
                rules: rules, fingerprint: Fingerprint(salt: [1]))
        #expect(rules.left(of: confirmed, at: later).seconds == 60)
    }

    @Test(
        "a shared cache uses nothing stale that proxy-revalidate or s-maxage speaks of",
        arguments: ["proxy-revalidate", "s-maxage=100"])
    func sharedStale(directive: String) {
        let rules = CacheRules(isShared: true)
        let head = head(["Cache-Control": "max-age=100, stale-if-error=99, \(directive)"], rules: rules)
        let demand = CacheDemand(HTTPRequest("http://h/", headers: ["Cache-Control": "max-stale"]))
        #expect(rules.reuse(head, for: demand, at: Self.moment + 101) == .validate(.stale))
        #expect(!rules.mayAnswerOnError(head, for: demand, at: Self.moment + 101))
    }

    @Test("Pragma says something only where Cache-Control says nothing")
    func pragma() {
        let wants = { (headers: HTTPHeaders) in CacheDemand(HTTPRequest("http://h/", headers: headers)).wantsValidation }
        #expect(wants(["Pragma": "no-cache"]))
        #expect(!wants(["Pragma": "no-cache", "Cache-Control": "foo"]))
        #expect(!wants(["Pragma": "foo"]))
    }

    @Test("either side lets a stale response answer in the place of an error, for a time")
    func staleIfError() {
        let rules = CacheRules()
        let demand = CacheDemand(HTTPRequest("http://h/", headers: ["Cache-Control": "stale-if-error=20"]))
        let silent = head(["Cache-Control": "max-age=100"], rules: rules)
        let generous = head(["Cache-Control": "max-age=100, stale-if-error=50"], rules: rules)
        #expect(!rules.mayAnswerOnError(silent, for: .plain, at: Self.moment + 101))
        #expect(rules.mayAnswerOnError(silent, for: demand, at: Self.moment + 120))
        #expect(!rules.mayAnswerOnError(silent, for: demand, at: Self.moment + 121))
        #expect(rules.mayAnswerOnError(generous, for: .plain, at: Self.moment + 150))
        #expect(!rules.mayAnswerOnError(generous, for: .plain, at: Self.moment + 151))
    }
}
