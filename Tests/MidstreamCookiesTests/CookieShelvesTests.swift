import Foundation
import MidstreamTesting
import Testing

@testable import MidstreamCookies

@Suite("Shelves of cookies")
struct CookieShelvesTests {
    /// The same rules without an index: searches all cookies each time.
    private struct Model {
        private var entries: [CookieShelves.Entry] = []
        private var uses = 0

        var count: Int { entries.count }

        func cookies(at now: Date) -> [Cookie] { entries.map(\.cookie).filter { !$0.isExpired(at: now) } }

        mutating func take(for target: CookieTarget, at now: Date) {
            for domain in CookieDomain.names(from: target.host) {
                let sent = entries.indices.filter { index in
                    let cookie = entries[index].cookie
                    return cookie.domain == domain && (!cookie.isHostOnly || domain == target.host)
                        && (!cookie.isSecure || target.isSecure) && target.isWithin(path: cookie.path)
                        && !cookie.isExpired(at: now)
                }
                uses += sent.isEmpty ? 0 : 1
                for index in sent { entries[index].lastUse = uses }
            }
        }

        /// Adds one for which there is room and which replaces none.
        mutating func add(_ cookie: Cookie) {
            uses += 1
            entries.append(.init(cookie: cookie, creation: uses, lastUse: uses))
        }

        mutating func set(_ cookie: Cookie, at now: Date) -> Bool {
            guard !cookie.isExpired(at: now) else {
                entries.removeAll { $0.cookie.replaces(cookie) }
                return true
            }
            if let index = entries.firstIndex(where: { $0.cookie.replaces(cookie) }) {
                uses += 1
                entries[index].cookie = cookie
                entries[index].lastUse = uses
                return true
            }
            add(cookie)
            makeRoom(for: CookieShelves.maximumPerDomain, at: now) { $0.domain == cookie.domain }
            makeRoom(for: CookieShelves.maximum, at: now) { _ in true }
            return entries.last?.creation == uses
        }

        private mutating func makeRoom(for limit: Int, at now: Date, among isCounted: (Cookie) -> Bool) {
            guard entries.count(where: { isCounted($0.cookie) }) > limit else { return }
            entries.removeAll { isCounted($0.cookie) && $0.cookie.isExpired(at: now) }
            while entries.count(where: { isCounted($0.cookie) }) > limit {
                var oldest: (isSecure: Int, lastUse: Int, index: Int)?
                for (index, entry) in entries.enumerated() where isCounted(entry.cookie) {
                    let rank = (entry.cookie.isSecure ? 1 : 0, entry.lastUse, index)
                    if oldest.map({ rank < $0 }) ?? true { oldest = rank }
                }
                if let oldest { entries.remove(at: oldest.index) }
            }
        }

        func hidesSecure(_ cookie: Cookie, at now: Date) -> Bool {
            entries.contains { entry in
                let other = entry.cookie
                return other.isSecure && other.name == cookie.name && !other.isExpired(at: now)
                    && CookieTarget.path(cookie.path, isWithin: other.path)
                    && (CookieDomain.host(other.domain, isWithin: cookie.domain)
                        || CookieDomain.host(cookie.domain, isWithin: other.domain))
            }
        }
    }

    private struct Chance {
        let random = SimulatedRandom(seed: 7)
        let secure: Double

        func below(_ limit: Int) -> Int { Int(random.share() * Double(limit)) }

        func host(_ number: Int) -> String {
            switch number {
            case 0: "test"
            case 1: "a.test"
            case 2: "ba.test"
            case 3: "10.0.0.1"
            case 4: "1"
            default: "h\(number).\(number < 50 ? "a" : "ba").test"
            }
        }

        func host() -> String { host(below(90)) }

        func cookie(_ name: String, domain: String, at now: Date, isOpen: Bool = false) -> Cookie {
            let life: Double? = below(4) == 0 ? random.share() * 800 - 10 : nil
            return Cookie(
                name: name, value: "\(random.next())", domain: domain, isHostOnly: below(3) > 0,
                path: ["/", "/p", "/p/q"][below(3)], expires: life.map { now.addingTimeInterval($0) },
                isSecure: !isOpen && random.share() < secure, isHTTPOnly: false)
        }
    }

    @Test("keep, evict and hide as a search of all cookies would", arguments: [0.5, 1])
    func likeModel(secure: Double) throws {
        let chance = Chance(secure: secure)
        var (shelves, model) = (CookieShelves(), Model())
        var now = Date(timeIntervalSince1970: 1_700_000_000)
        for number in 0..<2_950 {
            let cookie = chance.cookie("n\(number % 50)", domain: chance.host(number / 50), at: now)
            guard !cookie.isExpired(at: now) else { continue }
            shelves.set(cookie, at: now)
            model.add(cookie)
        }
        var (refused, hidden) = (0, 0)
        for step in 0..<600 {
            now += chance.random.share()
            // The first 200 fill the jar; later ones include some that aren't Secure.
            let cookie = chance.cookie(
                "n\(chance.below(60))", domain: chance.host(), at: now, isOpen: step > 200 && chance.below(2) == 0)
            let isStored = shelves.set(cookie, at: now)
            try #require(isStored == model.set(cookie, at: now), "step \(step)")
            refused += isStored ? 0 : 1
            let target = try #require(CookieTarget("http\(chance.below(2) == 0 ? "s" : "")://\(chance.host())/p"))
            _ = shelves.take(for: target, at: now)
            model.take(for: target, at: now)
            let open = chance.cookie("n\(chance.below(60))", domain: chance.host(), at: now)
            let hides = shelves.hidesSecure(open, at: now)
            try #require(hides == model.hidesSecure(open, at: now), "step \(step)")
            hidden += hides ? 1 : 0
            if step.isMultiple(of: 20) {
                try #require(shelves.cookies(at: now) == model.cookies(at: now), "step \(step)")
            }
        }
        #expect(model.count > 2_900 && hidden > 0 && (secure < 1 || refused > 0), "\(model.count) \(hidden) \(refused)")
    }
}
