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

    /// Leaves an event in the call's trace, where ``note(_:)`` would leave a note: people read its description, programs its parts.
    ///
    /// - Parameter event: Not made when nothing is recorded.
    public func record(_ event: @autoclosure () -> CallEvent) { ChainPosition.current?.record(event, about: self) }
}

extension HTTPResponse {
    /// Leaves a note in the call's trace, as ``HTTPRequest/note(_:)`` does.
    ///
    /// - Parameter text: A few words without secrets; not made when nothing is recorded.
    public func note(_ text: @autoclosure () -> String) { ChainPosition.current?.note(text, about: request) }

    /// Leaves an event in the call's trace, as ``HTTPRequest/record(_:)`` does.
    ///
    /// - Parameter event: Not made when nothing is recorded.
    public func record(_ event: @autoclosure () -> CallEvent) { ChainPosition.current?.record(event, about: request) }
}

extension ChainPosition {
    /// Leaves a note at this position, for those who know theirs. Not inlined, and neither are events, so that what they need isn't part of the
    /// frames of those who wait.
    @inline(never)
    package func note(_ text: () -> String, about request: HTTPRequest) {
        guard pass >= 0, let call, let recorder = call.recorder else { return }
        recorder.remark(signed(text(), in: call, about: request), nil, pass: pass)
    }

    /// Leaves an event at this position, for those who know theirs.
    @inline(never)
    package func record(_ event: () -> CallEvent, about request: HTTPRequest) {
        guard let call, call.observation != nil || pass >= 0 && call.recorder != nil else { return }
        let event = event()
        call.observation?.happened(event)
        guard pass >= 0, let recorder = call.recorder else { return }
        recorder.remark(signed(event.description, in: call, about: request), event, pass: pass)
    }

    /// The text with the name of who speaks, if that isn't the interceptor itself.
    private func signed(_ text: String, in call: Call, about request: HTTPRequest) -> String {
        guard speaker >= 0, let name = call.owner.speaker(Int(speaker), for: request) else { return text }
        return "\(name): \(text)"
    }
}
