import Interception
import MidstreamAuthentication
import MidstreamCore
import MidstreamTesting
import TestSupport
import Testing

/// Logins, logouts, refreshes and rejected calls of two users, in every order.
@Suite(.leavesNothing, .timeLimit(.minutes(10))) struct LoginInterleavingTests {
    private enum Step: CaseIterable { case call, endpointAnswers, storeSaves, logOut, logIn, callAgain }

    private static let orders = permutations(Step.allCases[...])

    private static func permutations(_ steps: ArraySlice<Step>) -> [[Step]] {
        guard !steps.isEmpty else { return [[]] }
        return steps.indices.flatMap { index in
            permutations(steps[..<index] + steps[(index + 1)...]).map { [steps[index]] + $0 }
        }
    }

    @Test("No call is sent with another user's credential, and nothing that was logged out comes back")
    func everyOrder() async throws {
        #expect(Self.orders.count == 720)
        for order in Self.orders { try await run(order) }
    }

    private func run(_ order: [Step]) async throws {
        let (answer, save) = (Gate(), Gate())
        let service = LoginService { if $0 == "ann-r0" { await answer.wait() } }
        let store = TestTokenStore(LoginService.token("ann")) { if $0?.accessToken == "ann-1" { await save.wait() } }
        // Two clients of one user: calls take turns, and the logins are made at one of them.
        let holders = [service.client(store), service.client(store)]
        let session = holders[0].session
        var user = "ann"
        var calls: [Task<Void, Never>] = []
        let last = Locked<HTTPStatus?>(nil)
        var users: [String] = []
        var changes: [Task<Void, Never>] = []
        func change(_ change: @escaping @Sendable () async throws -> Void) {
            changes.append(CallersExecutor().startAtOnce { await #expect(throws: Never.self) { try await change() } })
        }
        func call() {
            let (client, number) = (holders[calls.count % 2].client, calls.count)
            users.append(user)
            // Whose call it is, is decided before this returns.
            calls.append(
                CallersExecutor().startAtOnce {
                    let status = try? await client.send(HTTPRequest("/\(number)")).status
                    last.withLock { $0 = status }
                })
        }
        for step in order {
            switch step {
            case .call, .callAgain: call()
            case .endpointAnswers: answer.open()
            case .storeSaves: save.open()
            case .logOut:
                user = ""
                change { try await session.logOut() }
            case .logIn:
                user = "bob"
                change { try await session.logIn(LoginService.token("bob")) }
            }
            for _ in 0..<50 { await Task.yield() }
        }
        answer.open()
        save.open()
        for change in changes { await change.value }
        for call in calls { await call.value }
        call()
        await calls[2].value

        for request in service.calls.requests {
            let number = try #require(request.urlText.last?.wholeNumberValue)
            let sender = LoginService.user(request.headers[.authorization]?.dropFirst("Bearer ".count) ?? "")
            #expect(sender == users[number], "call \(number) of \(users) in \(order)")
        }
        #expect(LoginService.user(store.present ?? "") == user, "the store after \(order)")
        #expect(LoginService.user(session.credential?.accessToken ?? "") == user, "\(order)")
        #expect(last.withLock { $0 } == (user.isEmpty ? nil : .ok), "\(order)")
        #expect(Set(service.spent).count == service.spent.count, "\(order)")
    }
}
