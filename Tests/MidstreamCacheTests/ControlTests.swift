import MidstreamCacheStore
import MidstreamCore
import TestSupport
import Testing

@testable import MidstreamCache

@Suite("The directives of Cache-Control", .leavesNothing)
struct ControlTests {
    @Test(
        "seconds are digits; what isn't makes the response stale, and the first of two counts",
        arguments: [
            (["max-age=3600"], 3600), (["MAX-Age=3600"], 3600), (["max-age=003600"], 3600), (["max-age=\"3600\""], 3600),
            (["foo, max-age=60"], 60), (["max-age=1800, max-age=1"], 1800), (["max-age=1", "max-age=1800"], 1),
            (["foo=\"max-age=3600\", max-age=1"], 1), (["max-age=1, foo=\"max-age=3600\""], 1), ([", ,max-age=5,"], 5),
            (["max-age=2147483648"], 1 << 31), (["max-age=99999999999999999999999"], 1 << 31),
            (["max-age=-1"], 0), (["max-age=1.5"], 0), (["max-age=3600a"], 0), (["max-age=a3600"], 0), (["max-age='3600'"], 0),
            (["max-age =3600"], 0), (["max-age= 3600"], 0), (["max-age=1 2"], 0), (["max-age"], 0), (["max-age="], 0),
            (["foo=\"unclosed, max-age=5"], nil), (["s-maxage=5"], nil), ([], nil), (["x=\"a\\\"b, max-age=9\", max-age=3"], 3),
        ] as [([String], Int?)])
    func maxAge(fields: [String], seconds: Int?) {
        #expect(CacheControl(fields).maxAge == seconds)
    }

    @Test("flags are read in any case, and those with names are about these fields alone")
    func flags() {
        let control = CacheControl(["No-Store, PUBLIC, must-revalidate, no-cache=\"a, b\"", "private=c, immutable"])
        #expect(control.flags == [.noStore, .isPublic, .mustRevalidate, .immutable])
        #expect(control.noCacheFields == ["a", "b"])
        #expect(control.privateFields == ["c"])
        #expect(CacheControl(["no-cache, private=\"\""]).flags == [.noCache, .isPrivate])
    }

    @Test("with more names than anybody lists a directive is about the whole response")
    func manyNames() {
        let names = { (count: Int) in (0..<count).map { "a\($0)" }.joined(separator: ",") }
        #expect(CacheControl(["no-cache=\"\(names(64))\""]).noCacheFields.count == 64)
        #expect(CacheControl(["no-cache=\"\(names(65))\""]).flags == .noCache)
        let several = CacheControl((0..<65).map { "private=\"a\($0)\"" })
        #expect(several.privateFields.count == 64 && several.flags == .isPrivate)
    }

    @Test("max-stale without a value takes any staleness")
    func maxStale() {
        #expect(CacheControl(["max-stale"]).maxStale == .infinity)
        #expect(CacheControl(["max-stale=5"]).maxStale == 5)
        #expect(CacheControl(["max-stale=x"]).maxStale == 0)
    }

    @Test(
        "a targeted field is a Dictionary, or nothing",
        arguments: [
            ("max-age=60", 60), ("max-age=60;a=1, foo=bar", 60), ("no-store, max-age=99999999999", 1 << 31), ("max-age=-1", 0),
            ("max-age=1, max-age=2", 2), ("max-age=\"60\"", nil), ("max-age=60, &&", nil), ("max-age =60", nil),
            ("MAX-AGE=60", nil), ("max-age=60,", nil), ("", nil), ("max-age=1.5", nil),
        ] as [(String, Int?)])
    func targeted(field: String, seconds: Int?) {
        #expect(CacheControl(targeted: [field])?.maxAge == seconds)
    }

    @Test(
        "structured fields are read by the book",
        arguments: [
            ("a=1, b=2.5, c=\"x\\\"y\", d=tok/en, e=:aGk=:, f, g=?0, h=@5, i=(1 \"b\";q=1 c);z", true), ("a=(\"b\" \"c\")", true),
            ("a=()", true), ("  a", true), ("a=1;b;c=2", true), ("a=%\"x%20y\"", true), ("a=*b:c", true),
            ("a=1,b", true), ("a=1,,b", false), ("a==1", false), ("a=\"x", false), ("a=(1 2", false), ("a=1.2345", false),
            ("a=1234567890123456", false), ("a=?2", false), ("A=1", false), ("a=(1,2)", false), ("a=:ä:", false), ("é", false),
        ])
    func dictionary(text: String, isOne: Bool) {
        #expect((StructuredDictionary([text]) != nil) == isOne)
    }

    @Test("as many parts of structured fields are read as every reader has to, and no more")
    func structuredLimits() {
        let repeated = { @Sendable (part: String, count: Int, separator: String) in
            [String](repeating: part, count: count).joined(separator: separator)
        }
        let texts: [(@Sendable (Int) -> String, Int)] = [
            ({ repeated("a", $0, ",") }, 1024), ({ "a=(\(repeated("1", $0, " ")))" }, 256),
            ({ "a" + repeated(";b", $0, "") }, 256),
        ]
        for (text, most) in texts {
            #expect(StructuredDictionary([text(most)]) != nil && StructuredDictionary([text(most + 1)]) == nil)
        }
        #expect(StructuredList([repeated("a", 1024, ",")])?.members.count == 1024)
        #expect(StructuredList([repeated("a", 1025, ",")]) == nil)
        #expect(StructuredList(["a" + repeated(";b=1", 257, "")]) == nil)
    }

    @Test(
        "strings lose their backslashes, and parameters keep their values",
        arguments: [
            ("a;b=\"x\\\"y\"", .string("x\"y")), ("a;b=\"\\\\\"", .string("\\")), ("a;b=\"\"", .string("")),
            ("a;b", .boolean(true)),
            ("a;b=1;b=2", .integer(2)), ("a;c", nil), ("a;b=to/k:en", .token("to/k:en")), ("a;b=:aGk=:", .bytes("aGk=")),
        ] as [(String, StructuredList.Value?)])
    func parameters(text: String, value: StructuredList.Value?) throws {
        #expect(try #require(StructuredList([text])).members[0]["b"] == value)
    }

    @Test("entity tags are compared strongly or weakly, and lists are taken apart")
    func tags() throws {
        let strong = try #require(EntityTag("\"a\""))
        let weak = try #require(EntityTag("W/\"a\""))
        #expect(strong.isWeaklyEqual(to: weak) && !strong.isStronglyEqual(to: weak) && !weak.isStronglyEqual(to: weak))
        #expect(EntityTag("") == nil)
        let condition = try #require(EntityTagCondition(["\"x,y\", W/\"a\" ,b", "\"c\""]))
        for tag in ["\"x,y\"", "\"a\"", "b", "\"c\""] { #expect(condition.matches(EntityTag(tag)), "\(tag)") }
        #expect(!condition.matches(EntityTag("\"x\"")) && !condition.matches(nil))
        for (list, tag) in [
            ("W/ ,\"b\"", "\"b\""), ("\"a\"\"b\"", "\"b\""), ("W/", "\"\""), (", \"open ", "\"open"), ("W/\"open", "W/\"open"),
            ("\"", "\""),
            ("\"\"", "\"\""), ("\"a\\\",\"b\"", "\"b\""),
        ] {
            #expect(EntityTagCondition([list])?.matches(EntityTag(tag)) == true, "\(list)")
        }
        #expect(EntityTagCondition(["\"a\", \"b"])?.matches(EntityTag("\"b\"")) == false)
        #expect(EntityTagCondition(["*"])?.matches(nil) == true)
        #expect(EntityTagCondition([]) == nil)
    }

    @Test(
        "ranges are resolved, and what isn't one range is left to the server",
        arguments: [
            ("bytes=0-1", 0..<2), ("bytes=8-", 8..<10), ("bytes=-3", 7..<10), ("bytes=-30", 0..<10), ("bytes=5-99", 5..<10),
            ("BYTES=0-0", 0..<1), ("bytes=10-", 0..<0), ("bytes=99-", 0..<0), ("bytes=0-99999999999999999999999", 0..<10),
            ("bytes=-0", 10..<10), ("bytes=0-1,3-4", nil), ("bytes=5-1", nil), ("lines=0-1", nil), ("bytes=", nil),
            ("bytes=-", nil),
            ("bytes=a-b", nil), ("bytes=1", nil),
        ] as [(String, Range<Int64>?)])
    func ranges(text: String, range: Range<Int64>?) {
        #expect(RangeRequest([text])?.resolved(length: 10) == range)
    }

    @Test("parts that touch become one")
    func union() {
        var parts = StoredRanges([0..<2, 6..<8])
        parts.insert(4..<6)
        #expect(parts.ranges == [0..<2, 4..<8])
        parts.insert(1..<5)
        #expect(parts.ranges == [0..<8])
        #expect(parts.contains(3..<8) && !parts.contains(3..<9) && parts.end(from: 2) == 8)
    }

    @Test("parts are what a set of numbers would be")
    func model() {
        for _ in 0..<300 {
            var parts = StoredRanges()
            var set: Set<Int64> = []
            for _ in 0..<Int.random(in: 0..<12) {
                let start = Int64.random(in: 0..<30)
                let range = start..<(start + Int64.random(in: 0..<8))
                parts.insert(range)
                set.formUnion(range)
            }
            #expect(Set(parts.ranges.flatMap { $0 }) == set)
            #expect(zip(parts.ranges, parts.ranges.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
        }
    }

    @Test("the hash is that of FIPS 180-4")
    func hash() {
        func hex(_ text: String) -> String { SHA256.hash(Array(text.utf8)).map { String($0, radix: 16).leftPadded }.joined() }
        #expect(hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(
            hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
                == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
    }

    @Test(
        "equivalent URLs are one",
        arguments: [
            ("HTTP://Cache.test:80/a", "http://cache.test/a"), ("http://cache.test", "http://cache.test/"),
            ("http://cache.test/%7ea%2fb?%7E#x", "http://cache.test/~a%2Fb?~"),
            ("http://cache.test/x/../a/./b", "http://cache.test/a/b"),
            ("https://cache.test:443/a", "https://cache.test/a"), ("http://cache.test:8080/a", "http://cache.test:8080/a"),
            ("http://cache.test/..", "http://cache.test/"), ("http://cache.test/a?x=1&y", "http://cache.test/a?x=1&y"),
            ("http://u:p@cache.test/a", "http://cache.test/a"), ("http://cache.test?q", "http://cache.test/?q"),
        ])
    func urls(text: String, normalized: String) {
        #expect(NormalizedURL.text(text) == normalized)
    }

    @Test(
        "No-Vary-Search says which parts of a query don't matter",
        arguments: [
            ("key-order", "a=1&b=2", "b=2&a=1", true), ("key-order", "a=1&a=2", "a=2&a=1", false), ("params", "a=1", "b=2", true),
            ("params=(\"utm\")", "a=1&utm=x", "a=1", true), ("params=(\"utm\")", "a=1&utm=x", "a=2", false),
            ("params, except=(\"id\")", "", "", false), ("except=(\"id\")", "id=1&x=2", "y=3&id=1", true),
            ("except=(\"id\")", "id=1", "id=2", false), ("params=(\"a b\")", "a+b=1", "a%20b=2", true),
            ("params=?0", "a=1", "a=2", false), ("params=(a)", "a=1", "a=2", false), ("key-order=1", "a&b", "b&a", false),
        ])
    func noVarySearch(field: String, first: String, second: String, areSame: Bool) {
        let rule = NoVarySearch(["No-Vary-Search": field])
        let (a, b) = (rule?.canonical("http://h/p?\(first)"), rule?.canonical("http://h/p?\(second)"))
        #expect((a != nil && a == b) == areSame)
    }

    @Test("a No-Vary-Search that is longer than anybody's counts as none")
    func longRule() {
        let rule = { (bytes: Int) in
            let name = String(repeating: "a", count: bytes - "params=(\"\")".utf8.count)
            return NoVarySearch(["No-Vary-Search": "params=(\"\(name)\")"])
        }
        #expect(rule(2048) != nil && rule(2049) == nil)
    }

    @Test("a query with more parts than anybody's stands for itself")
    func longQuery() {
        let rule = NoVarySearch(["No-Vary-Search": "key-order"])
        let query = { (count: Int) in [String](repeating: "a", count: count).joined(separator: "&") }
        #expect(rule?.canonical("http://h/?" + query(1024)) != nil)
        #expect(rule?.canonical("http://h/?" + query(1025)) == nil)
    }
}

extension String {
    fileprivate var leftPadded: String { count < 2 ? "0" + self : self }
}
