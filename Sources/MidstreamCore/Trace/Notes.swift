/// Who a note is put down to. It travels in requests and responses, so that those who are given one can leave notes without being
/// told who they are.
///
/// - Invariant: The pass is one of the call that the request or response belongs to.
package struct NoteAuthor: Sendable {
    /// The number of the author's pass in the call's recorder, which keeps fewer than there are numbers; -1 for nobody.
    private(set) var pass: Int16 = -1
    /// Which of the validators speaks in that pass; -1 for none.
    private(set) var validator: Int16 = -1

    static let nobody = NoteAuthor()

    private init() {}

    init(pass: Int32) { self.pass = Int16(clamping: pass) }

    /// One of the validators that this one, the arbiter, asks.
    func asking(validator place: Int) -> NoteAuthor {
        var author = self
        author.validator = Int16(clamping: place)
        return author
    }

    fileprivate func note(_ text: () -> String, on request: HTTPRequest) {
        guard pass >= 0, let call = request.call ?? Call.current, let recorder = call.recorder else { return }
        let validators = request.validators ?? call.client.configuration.validators
        let place = Int(validator)
        let signature = validators.indices.contains(place) ? "\(type(of: validators[place])): " : ""
        recorder.note(signature + text(), pass: Int32(pass))
    }
}

extension HTTPRequest {
    /// Leaves a note in the call's trace, such as why a response comes from a cache or what a retry waits for.
    ///
    /// It is put down to whoever was handed the request: an interceptor in any of its forms, a validator, a retry strategy, an
    /// ``Authenticator``. Copies of the request know it too; one made from nothing doesn't, and leaves no notes. The note of a
    /// validator stands at the arbiter's place, with the validator's type before it.
    ///
    /// - Parameter text: A few words without secrets; not made when nothing is recorded.
    public func note(_ text: @autoclosure () -> String) { noteAuthor.note(text, on: self) }
}

extension HTTPResponse {
    /// Leaves a note in the call's trace. It is put down to whoever was handed the response: the interceptor that got it from
    /// its `next`, or the validator that is asked about it.
    ///
    /// A response that an interceptor has made itself is nobody's until it is handed on; the note goes on the request then.
    ///
    /// - Parameter text: A few words without secrets; not made when nothing is recorded.
    public func note(_ text: @autoclosure () -> String) { noteAuthor.note(text, on: request) }

    /// Hands the response to the next one who may leave notes on it. It becomes a part of that one's call: an interceptor may have
    /// kept it from another.
    mutating func hand(to author: NoteAuthor, of call: Call) {
        noteAuthor = author
        if self.call !== call { request.call = call }
    }
}
