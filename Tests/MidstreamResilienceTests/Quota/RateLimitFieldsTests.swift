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
        #expect(one.general.left == 50 && one.general.seconds == 30 && one.malformed == nil)
        let two = fields(["RateLimit": "\"day\";r=900;t=80000, \"burst\";r=3;t=2"])
        #expect(two.general.left == 3 && two.general.seconds == 2)
        for field in ["\"burst\";r=0;t=1, \"day\";r=0;t=40000", "\"day\";r=0;t=40000, \"burst\";r=0;t=1"] as [String] {
            #expect(fields(["RateLimit": "\(field)"]).general == .init(left: 0, seconds: 40_000, policy: nil))
        }
        let policy = fields([
            "RateLimit-Policy": "\"burst\";q=100;w=60, \"daily\";q=1000;w=86400, \"bytes\";q=1;w=1;qu=\"content-bytes\""
        ])
        #expect(policy.general.policy == .init(quota: 1_000, seconds: 86_400))
        #expect(fields(["RateLimit-Policy": "\"p\";q=5"]).general.policy == nil)
        #expect(fields(["Other": "1"]).general == .init() && fields([:]).partitions.isEmpty)
    }

    @Test("what is said of a partition holds for that one, and the strictest counts in each")
    func partitions() {
        let two = fields([
            "RateLimit":
                "\"day\";r=900;t=80000, \"user\";r=3;t=2;pk=:dXNlcg==:, \"user\";r=2;t=9;pk=:dXNlcg==:, \"b\";r=0;pk=:Yg==:",
            "RateLimit-Policy": "\"user\";q=10;w=1;pk=:dXNlcg==:, \"day\";q=1000;w=86400",
        ])
        #expect(two.general == .init(left: 900, seconds: 80_000, policy: .init(quota: 1_000, seconds: 86_400)))
        #expect(two.partitions.map(\.key) == ["dXNlcg==", "Yg=="])
        #expect(
            two.partitions.map(\.limit) == [
                .init(left: 2, seconds: 9, policy: .init(quota: 10, seconds: 1)), .init(left: 0, seconds: nil, policy: nil),
            ])
        #expect(two.usedUp == ["Yg=="] && two.malformed == nil)
        #expect(fields([:]).usedUp == [nil])
        #expect(fields(["RateLimit": "\"a\";r=1;pk=:YQ==:"]).usedUp == ["YQ=="])
        #expect(fields(["RateLimit": "\"a\";r=1;pk=:YQ==:, \"b\";r=7"]).usedUp == ["YQ==", nil])
        #expect(fields(["RateLimit": "\"a\";r=1;pk=:YQ==:, \"b\";r=0"]).usedUp == [nil])
        let many = (0..<50).map { "\"a\";r=1;pk=:\($0)aa:" }.joined(separator: ", ")
        #expect(fields(["RateLimit": "\(many)"]).partitions.count == 8)
    }

    @Test(
        "a partition key that is none is ignored, and named",
        arguments: ["user", "1", "\"user\"", ":us er:", ":" + String(repeating: "a", count: 1_025) + ":"])
    func malformedPartition(key: String) {
        let read = fields(["RateLimit": "\"a\";r=1;pk=\(key)", "RateLimit-Policy": "\"a\";q=1;w=1;pk=\(key)"])
        #expect(read.malformed == "RateLimit-Policy")
        #expect(read.partitions.isEmpty && read.general == .init())
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
        #expect(fields.general.left == nil)
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
        #expect(fields(headers).general.left == nil)
        let time = fields(headers, .resetTime)
        #expect(time.general.left == 7 && time.general.seconds == 60)
        // This machine's clock is ten minutes behind that of who answers.
        let late: HTTPHeaders = [
            "X-RateLimit-Remaining": "7", "X-RateLimit-Reset": "1660", "Date": "Thu, 01 Jan 1970 00:26:40 GMT",
        ]
        #expect(fields(late, .resetTime).general.seconds == 60)
        #expect(fields(headers, .resetSeconds).general.seconds == 1_060)
        #expect(fields(["X-RateLimit-Remaining": "7", "X-RateLimit-Reset": "5"], .resetTime).general.seconds == 0)
        let other = RateLimit.Dialect(remaining: "Left", reset: "Again", resetIsTime: false)
        #expect(fields(["Left": "3", "Again": "9"], other).general.seconds == 9)
        let fractions = fields(["X-RateLimit-Remaining": "3.9", "X-RateLimit-Reset": "1060.5"], .resetTime)
        #expect(fractions.general.left == 3 && fractions.general.seconds == 61)
        #expect(fields(["X-RateLimit-Remaining": "-7"], .resetTime).malformed == "X-RateLimit-Remaining")
        let digits = String(repeating: "9", count: 300)
        let endless = fields(["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "\(digits)"], .resetTime)
        #expect(endless.malformed == "X-RateLimit-Reset" && endless.general.seconds == nil)
        #expect(fields(["RateLimit": "\"a\";r=1", "X-RateLimit-Remaining": "7"], .resetTime).general.left == 1)
    }

    @Test(
        "resets may be durations with units, or dates",
        arguments: [
            ("6m0s", 360), ("20ms", 1), ("1.5s", 2), ("1h2m3s", 3_723), ("2d", 172_800), ("1970-01-01T00:17:40Z", 60),
            ("1970-01-01T00:17:40.5Z", 61), ("1969-01-01T00:00:00Z", 0), ("6m0", nil), ("m", nil), ("1y", nil), (".s", nil),
            ("999999999999h", nil), ("9999-12-31T00:00:00Z", nil), ("tomorrow", nil), (String(repeating: "1s", count: 21), nil),
            ("", nil),
        ] as [(String, Int?)])
    func resets(text: String, seconds: Int?) {
        for resetIsTime in [false, true] {
            let dialect = RateLimit.Dialect(remaining: "Left", reset: "Again", resetIsTime: resetIsTime)
            let read = fields(["Left": "0", "Again": "\(text)"], dialect)
            #expect(read.general.seconds == seconds && (read.malformed == nil) == (seconds != nil))
        }
    }

    @Test("what a cache on the way has kept says nothing", arguments: ["1", "50", "50, 0"])
    func kept(age: String) {
        let standard: HTTPHeaders = ["RateLimit": "\"a\";r=0;t=60", "RateLimit-Policy": "\"a\";q=1;w=60"]
        let older: HTTPHeaders = ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1060"]
        for var headers in [standard, older] {
            headers["Age"] = "0"
            #expect(!fields(headers, .resetTime).isEmpty)
            headers["Age"] = age
            #expect(fields(headers, .resetTime).isEmpty)
        }
    }
}
