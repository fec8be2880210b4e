import MidstreamCore
import Testing

@testable import MidstreamResilience

@Suite("What responses say about quotas", .timeLimit(.minutes(10)))
struct RateLimitFieldsTests {
    private func fields(_ headers: HTTPHeaders, _ dialect: RateLimit.Dialect? = nil) -> RateLimitFields {
        RateLimitFields(headers, dialect, now: 1_000)
    }

    @Test("the standard fields are read; of several the strictest counts")
    func standard() {
        let one = fields(["RateLimit": "\"default\";r=50;t=30"])
        #expect(one.left == 50 && one.seconds == 30 && one.malformed == nil)
        let two = fields(["RateLimit": "\"day\";r=900;t=80000, \"burst\";r=3;t=2;pk=:dXNlcg==:"])
        #expect(two.left == 3 && two.seconds == 2)
        let policy = fields([
            "RateLimit-Policy": "\"burst\";q=100;w=60, \"daily\";q=1000;w=86400, \"bytes\";q=1;w=1;qu=\"content-bytes\""
        ])
        #expect(policy.policy == .init(quota: 1_000, seconds: 86_400))
        #expect(fields(["RateLimit-Policy": "\"p\";q=5"]).policy == nil)
        #expect(fields([:]) == fields(["Other": "1"]))
    }

    @Test(
        "what can't be read is ignored, and named",
        arguments: [
            "\"a\";r=-1;t=5", "\"a\";r=1e99", "\"a\";r=" + String(repeating: "9", count: 300), "\"a\";t=5", "\"a\";r=5;t=-1",
            "\"a\"", "r=5",
            "\"a", ";;;", "\"a\";r=5,", "\"a\";r=\"5\"", "\"a\";r=0.5",
        ])
    func malformed(text: String) {
        let fields = fields(["RateLimit": text])
        #expect(fields.malformed == "RateLimit")
        #expect(fields.left == nil)
    }

    @Test(
        "a policy that can't be read is ignored, and named",
        arguments: ["\"a\";q=0;w=1", "\"a\";q=-5;w=1", "\"a\";w=1", "\"a\";q"])
    func malformedPolicy(text: String) {
        #expect(fields(["RateLimit-Policy": text]).malformed == "RateLimit-Policy")
    }

    @Test("older fields are read when the dialect is said, and only where the standard ones are missing")
    func dialects() {
        let headers: HTTPHeaders = ["X-RateLimit-Remaining": "7", "X-RateLimit-Reset": "1060"]
        #expect(fields(headers).left == nil)
        let time = fields(headers, .resetTime)
        #expect(time.left == 7 && time.seconds == 60)
        #expect(fields(headers, .resetSeconds).seconds == 1_060)
        #expect(fields(["X-RateLimit-Remaining": "7", "X-RateLimit-Reset": "5"], .resetTime).seconds == 0)
        #expect(fields(["X-RateLimit-Remaining": "-7"], .resetTime).malformed == "X-RateLimit-Remaining")
        let digits = String(repeating: "9", count: 300)
        #expect(fields(["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "\(digits)"], .resetTime).seconds == 1_000_000_000)
        #expect(fields(["RateLimit": "\"a\";r=1", "X-RateLimit-Remaining": "7"], .resetTime).left == 1)
    }
}
