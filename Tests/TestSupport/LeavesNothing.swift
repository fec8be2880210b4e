internal import MidstreamCore
package import Testing

/// At the end of each test, nothing is left of what it has made: no client, transport or server with its threads, connections and
/// descriptors, and no temporary file.
///
/// Tests run beside each other, so each answers for the objects that were made in its own task and its children, by this module's
/// functions or by whatever tells a ``MidstreamCore/ResourceWitness``.
package struct LeavesNothing: SuiteTrait, TestTrait, TestScoping {
    private let patience: Duration

    package var isRecursive: Bool { true }

    /// - Parameter patience: How long things may take to go. Only what never goes is waited for so long.
    package init(patience: Duration = .seconds(120)) { self.patience = patience }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let belongings = Belongings()
        do {
            try await Belongings.$current.withValue(belongings) {
                try await Self.witnessed(by: belongings, function)
            }
        } catch {
            await expectNothing(of: belongings, in: test)
            throw error
        }
        await expectNothing(of: belongings, in: test)
    }

    /// Not optimized: Swift 6.3 loses the type of a task-local closure when it specializes this for a release build, which then crashes.
    @_optimize(none)
    private static func witnessed(
        by belongings: Belongings, _ function: @Sendable () async throws -> Void
    ) async throws {
        try await ResourceWitness.$current.withValue({ belongings.add($0) }, operation: { try await function() })
    }

    private func expectNothing(of belongings: Belongings, in test: Test) async {
        let left = await belongings.left(patience: patience)
        guard !left.isEmpty else { return }
        Issue.record("\(test.name) leaves \(left.joined(separator: ", "))", sourceLocation: test.sourceLocation)
    }
}

extension Trait where Self == LeavesNothing {
    /// At the end of each test, nothing is left of what it has made.
    package static var leavesNothing: LeavesNothing { LeavesNothing() }
}
