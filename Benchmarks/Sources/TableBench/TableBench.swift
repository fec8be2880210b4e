import Foundation
import Measuring

/// Prints the processor time of an operation on each table that has a bound: on keys that it knows, and on new ones up to its bound and when ten and a
/// hundred times as many have gone through it. The tables are those whose names begin as the arguments say, all by default.
///
/// Fails when a new key costs more than three times as much beyond the bound.
@main
struct TableBench {
    /// How often as many keys as a table has room for.
    private static let scales = [10, 100]
    private static let mostTimesAsMuch = 3.0
    private static let rounds = 7

    static func main() { runToEnd { try await measure() } }

    private static func measure() async throws {
        defer { try? FileManager.default.removeItem(at: Tables.folder) }
        let names = CommandLine.arguments.dropFirst()
        let tables = Tables.all.filter { table in names.isEmpty || names.contains { table.name.hasPrefix($0) } }
        let columns = ["room", "known", "new, 1×"] + scales.map { "\($0)×" } + ["dearer"]
        print(line("an operation in µs", columns))
        var steep: [String] = []
        for table in tables {
            let (known, new, beyond) = try await costs(of: table)
            let factor = (beyond.map(\.microseconds).max() ?? new) / new
            let figures = beyond.map { "\(text($0.microseconds))\($0.isWhole ? "" : "*")" }
            print(line(table.name, ["\(table.room)", text(known), text(new)] + figures + ["\(text(factor))×"]))
            if factor > mostTimesAsMuch { steep.append(table.name) }
        }
        print("\n*: with fewer keys, since so many would have taken too long")
        guard steep.isEmpty else { throw Steep(names: steep) }
    }

    private struct Cost {
        let microseconds: Double
        /// Whether as many keys had gone through the table as it says.
        let isWhole: Bool
    }

    private struct Steep: Error, CustomStringConvertible {
        let names: [String]
        var description: String { "more than \(mostTimesAsMuch) times as much: \(names.joined(separator: "; "))" }
    }

    private static func costs(of table: Table) async throws -> (known: Double, new: Double, beyond: [Cost]) {
        let operations = min(500, table.room / 2)
        var use = try await table.make()
        var new = Double.infinity
        for round in 0..<rounds {
            if round > 0 { use = try await table.make() }
            for number in 0..<(table.room - operations) { try await use(number) }
            new = min(new, try await cost(of: use, (table.room - operations)..<table.room))
        }
        var known = Double.infinity
        for _ in 0..<rounds { known = min(known, try await cost(of: use, 0..<operations)) }
        var number = table.room
        var beyond: [Cost] = []
        for scale in scales {
            let start = max(number, table.room * scale - rounds * operations)
            let isWhole = try await fill(use, &number, upTo: start)
            var best = Double.infinity
            for _ in 0..<rounds {
                best = min(best, try await cost(of: use, number..<(number + operations)))
                number += operations
            }
            beyond.append(Cost(microseconds: best, isWhole: isWhole))
        }
        return (known, new, beyond)
    }

    /// Whether it came to the end, for which there are ten seconds.
    private static func fill(_ use: Table.Use, _ number: inout Int, upTo end: Int) async throws -> Bool {
        let limit = ContinuousClock.now + .seconds(10)
        while number < end {
            if number % 100 == 0, ContinuousClock.now > limit { return false }
            try await use(number)
            number += 1
        }
        return true
    }

    /// Of each of the keys, in microseconds of the processor's time, which others on the machine don't change.
    private static func cost(of use: Table.Use, _ keys: Range<Int>) async throws -> Double {
        let start = Usage.processorSeconds
        for number in keys { try await use(number) }
        return (Usage.processorSeconds - start) * 1e6 / Double(keys.count)
    }

    private static func text(_ figure: Double) -> String { String(format: "%.1f", figure) }

    private static func line(_ name: String, _ columns: [String]) -> String {
        func space(_ count: Int) -> String { String(repeating: " ", count: max(1, count)) }
        return name + space(38 - name.count) + columns.map { space(10 - $0.count) + $0 }.joined()
    }
}
