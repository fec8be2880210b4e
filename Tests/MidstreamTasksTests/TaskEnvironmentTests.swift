import Foundation
import MidstreamTasks
import MidstreamCore
import MidstreamTesting
import Testing

private enum Tenant: TaskEnvironmentKey { static let defaultValue = "public" }
private enum Limit: TaskEnvironmentKey { static let defaultValue: Int? = 5 }

extension TaskEnvironmentValues {
    fileprivate var tenant: String {
        get { self[Tenant.self] }
        set { self[Tenant.self] = newValue }
    }
}

@Suite("D3 Environment") struct TaskEnvironmentTests {
    /// A modifier as a user writes it.
    private struct Labelled: RequestTaskModifier {
        @TaskEnvironment(\.tenant) var tenant
        @TaskEnvironment(Tenant.self) var sameTenant

        func body(_ task: AnyRequestTask<Int>) async throws -> String {
            #expect(tenant == sameTenant)
            return "\(tenant) \(try await task.result())"
        }
    }

    private let task = MockedTask { 1 }.modifier(Labelled())

    @Test func aModifierReadsTheDefault() async throws {
        #expect(try await task.result() == "public 1")
    }

    @Test func aModifierReadsWhatIsSetFurtherOut() async throws {
        #expect(try await task.environment(\.tenant, "acme").result() == "acme 1")
        #expect(try await task.environment(Tenant.self, "acme").result() == "acme 1")
        #expect(try await task.environment(\.tenant, "acme").result() == "acme 1")
        #expect(try await task.result() == "public 1")
    }

    @Test func theValueNearestToItWins() async throws {
        #expect(try await task.environment(\.tenant, "near").environment(\.tenant, "far").result() == "near 1")
    }

    @Test func whatIsSetFurtherInIsNotSeen() async throws {
        let task = MockedTask { 1 }.environment(\.tenant, "inner").modifier(Labelled())
        #expect(try await task.result() == "public 1")
    }

    @Test func theMembersOfAGroupHaveIt() async throws {
        let group = GroupTask([1, 2]) { _ in task }.environment(\.tenant, "acme")
        #expect(try await group.result().mapValues { try $0.get() } == [1: "acme 1", 2: "acme 1"])
    }

    @Test func anOptionalValueHasItsDefaultAndMayBeSetToNil() {
        var values = TaskEnvironmentValues()
        #expect(values[Limit.self] == 5)
        values[Limit.self] = nil
        #expect(values[Limit.self] == nil)
    }

    @Test func itsDescriptionShowsNoValues() {
        var values = TaskEnvironmentValues()
        values.tenant = "s3cret"
        var dumped = "\(values)"
        dump(values, to: &dumped)
        #expect(!dumped.contains("s3cret"))
    }
}
