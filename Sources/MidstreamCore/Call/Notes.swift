internal import Interception

extension HTTPRequest {
    /// Leaves a note in the call's trace, such as why a response comes from a cache or what a retry waits for.
    ///
    /// It is put down to whoever is at work in the present task: an interceptor in any of its forms, a validator, a retry strategy, an
    /// authenticator. The note of a validator stands at the arbiter's place, with the validator's type before it. Outside a
    /// call, in a detached task, and when nothing is recorded, it goes nowhere.
    ///
    /// - Parameter text: A few words without secrets; not made when nothing is recorded.
    public func note(_ text: @autoclosure () -> String) { ChainPosition.current?.note(text, about: self) }
}

extension HTTPResponse {
    /// Leaves a note in the call's trace, as ``HTTPRequest/note(_:)`` does.
    ///
    /// - Parameter text: A few words without secrets; not made when nothing is recorded.
    public func note(_ text: @autoclosure () -> String) { ChainPosition.current?.note(text, about: request) }
}

extension ChainPosition {
    /// Leaves a note at this position, for those who know theirs.
    package func note(_ text: () -> String, about request: HTTPRequest) {
        guard pass >= 0, let call, let recorder = call.recorder else { return }
        let signature = speaker < 0 ? nil : call.owner.speaker(Int(speaker), for: request)
        recorder.note((signature.map { "\($0): " } ?? "") + text(), pass: pass)
    }
}
