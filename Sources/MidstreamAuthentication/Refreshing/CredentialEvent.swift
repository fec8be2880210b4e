internal import MidstreamCore

extension CallEvent {
    /// What an authentication interceptor did beyond adding the credential that it holds.
    enum CredentialAction: String {
        /// There was none, and one was obtained.
        case obtained
        /// It was refreshed; after a rejection the request was sent again, else it was done ahead of sending.
        case refreshed
        /// Another call had refreshed it meanwhile; the request was sent again with that.
        case wasNewer = "was newer"
        /// It was refreshed, but the request can't be sent again, since its body can be read only once.
        case refreshedInVain = "refreshed in vain"
        /// Nobody could be asked for another one; the request was sent again with the same.
        case unchanged

        fileprivate func description(_ rejection: HTTPStatus?) -> String {
            guard let rejection else {
                return self == .obtained ? "obtained a credential" : "refreshed the credential ahead of sending"
            }
            return switch self {
            case .obtained: "rejected with \(rejection.code); obtained a credential"
            case .refreshed: "rejected with \(rejection.code); refreshed the credential and sent again"
            case .wasNewer: "rejected with \(rejection.code); sent again with a credential that is newer"
            case .refreshedInVain: "rejected with \(rejection.code); not sent again, since its body can be read only once"
            case .unchanged: "rejected with \(rejection.code); sent again with the same credential, since there is no other"
            }
        }
    }

    /// - Parameter rejection: The status that rejected the former credential; nil when none did.
    static func credential(_ action: CredentialAction, rejection: HTTPStatus? = nil) -> CallEvent {
        CallEvent(
            "credential", action.description(rejection),
            ["action": .string(action.rawValue), "status": rejection.map { .count($0.code) }])
    }
}
