/// Says of a task that it is part of a certain refresh, so that what it sends isn't kept waiting for that very refresh.
struct RefreshMark: Sendable {
    /// Whose credential is being refreshed.
    let owner: ObjectIdentifier
    /// Which of the owner's refreshes it is: a task that outlives its refresh is part of none.
    let number: Int

    /// The refreshes that the current task is part of: more than one when one credential is needed to obtain another.
    @TaskLocal static var current: [RefreshMark] = []
}
