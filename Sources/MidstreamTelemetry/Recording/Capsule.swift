public import MidstreamCore

extension HTTPError {
    /// The exchanges of the call that failed with an ``HARArchive/Account`` of it, to be attached to a report and to be played again by
    /// ``ReplayTransport``; nil unless the client has observers or ``HTTPClient/Configuration/keepsCapsules`` is on, without which it has no
    /// bodies.
    ///
    /// Nothing is sent: what stands in the account beside the exchanges is what the client would do with the request now.
    ///
    /// - Parameters:
    ///   - redaction: What is withheld beside what always is; nil: as the client's configuration says.
    ///   - includesSecrets: Whether nothing is withheld of the exchanges; false by default.
    public func capsule(redaction: Redaction? = nil, includesSecrets: Bool = false) async -> HARArchive? {
        guard let call = callRecord else { return nil }
        let redaction = redaction ?? call.redaction
        var archive = HARArchive(call.exchanges, redaction: redaction, includesSecrets: includesSecrets)
        let events = call.events.map { HAREntry.Event($0, redaction: includesSecrets ? nil : redaction) }
        for place in archive.entries.indices { archive.entries[place]._midstream?.events = events }
        archive.account = HARArchive.Account(
            failure: description(by: redaction), trace: trace?.description(by: redaction),
            settings: call.client?.configuration.listed(redaction),
            explanation: await explanation(by: call.client, redaction))
        return archive
    }

    private func explanation(by client: HTTPClient?, _ redaction: Redaction) async -> String? {
        guard let client, let request else { return nil }
        do {
            return "\(try await client.explain(request, by: redaction))"
        } catch {
            return "\(client.pipeline)"
        }
    }
}

extension HTTPClient.Configuration {
    /// A line for each setting, secrets withheld.
    fileprivate func listed(_ redaction: Redaction) -> [String] {
        var shown = self
        shown.redaction = redaction
        return Mirror(reflecting: shown).children.map { name, value in "\(name ?? ""): \(value)" }
    }
}
