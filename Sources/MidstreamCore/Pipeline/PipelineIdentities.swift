public import Interception

extension Exchange {
    /// Whose a request will be by the interceptors from a place on, and by the transport.
    func identity(of request: HTTPRequest, from place: Int) -> WireIdentity {
        var identity = WireIdentity()
        for source in personal where source.place >= place { identity.add(source.interceptor.identity(of: request)) }
        identity.add(transport.identity)
        return identity
    }

    /// Whether an interceptor from a place on would be asked.
    fileprivate func isPersonal(from place: Int) -> Bool { (personal.last?.place ?? -1) >= place }
}

extension Next where Input == HTTPRequest, Output == HTTPResponse {
    /// Whose a request will be by the interceptors further in and the transport, beyond what it carries itself, such as a cookie: for
    /// interceptors that keep responses, or count, for several users.
    ///
    /// What was kept for one list may serve requests with an equal one. Where the list is empty or has ``RequestIdentity/unknown`` in it, a
    /// credential may have been added all the same: keep the response only if the request that was sent has no more secrets
    /// (``HTTPRequest/hasSecrets(beyond:)``). Ask again when the response is there, since somebody else may have logged in meanwhile.
    ///
    /// - Parameter request: As it would be passed on.
    /// - Returns: The users, of the outermost interceptor first and of the transport last, and then ``RequestIdentity/unknown`` if somebody
    ///   can't tell or doesn't say; empty: nobody's in particular. A user's text may be a credential, which should be written down nowhere.
    public func identities(of request: HTTPRequest) -> [RequestIdentity] {
        let identity = identity(of: request)
        return identity.users.map(RequestIdentity.user) + (identity.isCertain ? [] : [RequestIdentity.unknown])
    }

    /// The same, as the library compares it.
    package func identity(of request: HTTPRequest) -> WireIdentity {
        let place = Int(index)
        guard let exchange else {
            var identity = WireIdentity()
            identity.add(.unknown)
            return identity
        }
        guard exchange.isPersonal(from: place) else { return exchange.identity(of: request, from: place) }
        // Interceptors that are asked find the call in the task, which isn't told it in every case.
        return ChainPosition.local.withValue(position) { exchange.identity(of: request, from: place) }
    }
}
