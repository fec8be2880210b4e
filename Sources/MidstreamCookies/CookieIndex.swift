/// Finds cookies of ``CookieShelves`` in the order of a key, such as their end.
///
/// Removing a cookie or changing its key leaves its old place in the index. Readers skip outdated places, and inserting drops them all once
/// they outnumber the cookies, so each costs a constant on average.
struct CookieIndex<Key: Comparable & Sendable>: Sendable {
    typealias Entry = CookieShelves.Entry
    typealias Shelves = [String: [Entry]]

    private struct Place: Sendable {
        let key: Key
        let domain: String
        let creation: Int
    }

    /// Sorted by key and creation. A slice, because it drops its first element without moving the others.
    private var places: ArraySlice<Place> = []
    private let key: @Sendable (Entry) -> Key?

    /// - Parameter key: The key of a cookie; nil for one that isn't part of this index.
    init(by key: @escaping @Sendable (Entry) -> Key?) { self.key = key }

    var count: Int { places.count }

    /// Adds a cookie that has been put on its shelf or changed there.
    ///
    /// - Parameter total: How many cookies are on the shelves.
    mutating func insert(_ entry: Entry, of shelves: Shelves, total: Int) {
        guard let key = key(entry) else { return }
        let index = firstIndex { ($0.key, $0.creation) >= (key, entry.creation) }
        let isKnown = index < places.endIndex && places[index].creation == entry.creation && places[index].key == key
        if !isKnown { places.insert(Place(key: key, domain: entry.cookie.domain, creation: entry.creation), at: index) }
        guard places.count > 2 * total + 50 else { return }
        places = ArraySlice(places.filter { self.entry(at: $0, in: shelves) != nil })
    }

    /// Takes the first cookie out of the index if its key is due; nil if there is none.
    mutating func popFirst(in shelves: Shelves, isDue: (Key) -> Bool = { _ in true }) -> Entry? {
        while let place = places.first, isDue(place.key) {
            places.removeFirst()
            if let entry = entry(at: place, in: shelves) { return entry }
        }
        return nil
    }

    /// The cookies from a key on, up to the first one whose key doesn't pass.
    func entries(from key: Key, in shelves: Shelves, while passes: (Key) -> Bool) -> some Sequence<Entry> {
        places[firstIndex { $0.key >= key }...].prefix { passes($0.key) }.lazy.compactMap { entry(at: $0, in: shelves) }
    }

    private func entry(at place: Place, in shelves: Shelves) -> Entry? {
        shelves[place.domain]?.first { $0.creation == place.creation }.flatMap { key($0) == place.key ? $0 : nil }
    }

    /// Binary search for the first place that passes; all places behind it pass too.
    private func firstIndex(where passes: (Place) -> Bool) -> Int {
        var (low, high) = (places.startIndex, places.endIndex)
        while low < high {
            let middle = (low + high) / 2
            if passes(places[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
