/// What was done to a request and its response: by whom, in what order, and how long it took.
public struct Trace: Sendable {
    private let call: Call?

    package init(_ call: Call?) { self.call = call }
}
