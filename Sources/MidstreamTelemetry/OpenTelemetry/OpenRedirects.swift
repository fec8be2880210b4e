internal import MidstreamCore

/// The last redirect of each call that is under way: whether it was one too many shows only when the call goes on or ends.
struct OpenRedirects {
    private var redirects: [CallRecord.ID: ExchangeRecord] = [:]

    var count: Int { redirects.count }

    func holds(_ exchange: ExchangeRecord) -> Bool { !redirects.isEmpty && redirects[exchange.call]?.id == exchange.id }

    /// What is certain of a call now that it makes an exchange: the redirect before that was followed, and the exchange itself unless it is a redirect.
    mutating func add(_ exchange: ExchangeRecord) -> (followed: ExchangeRecord?, certain: ExchangeRecord?) {
        let followed = redirects.isEmpty ? nil : redirects.removeValue(forKey: exchange.call)
        guard exchange.status?.isRedirection == true else { return (followed, exchange) }
        redirects[exchange.call] = exchange
        return (followed, nil)
    }

    /// The redirect that a call ends with, and its error: the exchange doesn't know of it.
    mutating func end(_ call: CallRecord) -> (exchange: ExchangeRecord, error: String?)? {
        guard !redirects.isEmpty, let last = redirects.removeValue(forKey: call.id) else { return nil }
        return (last, call.error == HTTPError.Code.tooManyRedirects.rawValue ? call.error : nil)
    }
}
