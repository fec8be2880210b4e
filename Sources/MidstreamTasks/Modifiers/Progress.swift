extension RequestTask {
    /// Reports how much of the bodies has gone over the wire.
    ///
    /// ```swift
    /// client.put("films/1", body: .file(film)).progress(.upload) { print($0.fraction ?? 0) }
    /// ```
    ///
    /// - Parameters:
    ///   - direction: Which bodies, of all data tasks before it; nil, the default: both.
    ///   - report: Called for each piece of a body, one after the other, by the task or thread that moves the bytes; so it mustn't wait. Each
    ///     attempt and each redirect begins again at its first byte.
    public func progress(
        _ direction: TransferProgress.Direction? = nil, _ report: @escaping @Sendable (TransferProgress) -> Void
    ) -> AnyRequestTask<Element> {
        let observer = TransferObserver(direction, report)
        return changingEnvironment { $0.requestTerms.observer = observer.and($0.requestTerms.observer) }
    }
}
