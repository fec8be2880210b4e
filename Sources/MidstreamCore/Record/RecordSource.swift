internal import Interception

/// The client that records come from, as far as they need it. They keep neither it alive nor its observers, which may keep records themselves.
final class RecordSource: Sendable {
    private struct Owner {
        weak var client: AnyObject?
    }

    let redaction: Redaction
    private let owner = Locked(Owner())

    init(_ redaction: Redaction) { self.redaction = redaction }

    /// The client, as long as there is one.
    var client: AnyObject? {
        get { owner.withLock { $0.client } }
        set { owner.withLock { $0.client = newValue } }
    }
}
