public import MidstreamCore

extension CallEvents {
    /// An authentication interceptor has done more than to add the credential that it holds.
    public struct Credential: CallEvent, Hashable {
        /// What was done.
        public enum Action: String, Sendable, Hashable {
            /// There was none, and one was obtained.
            case obtained
            /// It was refreshed; after a rejection the request was sent again, else it was done ahead of sending.
            case refreshed
            /// Another call had refreshed it meanwhile; the request was sent again with that.
            case wasNewer = "was newer"
            /// It was refreshed, but the request can't be sent again, since its body can be read only once.
            case refreshedInVain = "refreshed in vain"
        }

        /// `credential`
        public static let name = "credential"
        /// What was done.
        public let action: Action
        /// The status that rejected the former one; nil when none did.
        public let rejection: HTTPStatus?

        init(_ action: Action, rejection: HTTPStatus? = nil) {
            self.action = action
            self.rejection = rejection
        }

        /// `action`, and `status`
        public var attributes: [String: EventValue] {
            var attributes: [String: EventValue] = ["action": .string(action.rawValue)]
            if let rejection { attributes["status"] = .count(rejection.code) }
            return attributes
        }

        /// Such as `rejected with 401; refreshed the credential and sent again`.
        public var description: String {
            guard let rejection else {
                return action == .obtained ? "obtained a credential" : "refreshed the credential ahead of sending"
            }
            return switch action {
            case .obtained: "rejected with \(rejection.code); obtained a credential"
            case .refreshed: "rejected with \(rejection.code); refreshed the credential and sent again"
            case .wasNewer: "rejected with \(rejection.code); sent again with a credential that is newer"
            case .refreshedInVain: "rejected with \(rejection.code); not sent again, since its body can be read only once"
            }
        }
    }
}
