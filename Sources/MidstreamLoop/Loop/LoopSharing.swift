#if os(Linux)
    /// Hosts whose connections are shared among requests, which the limits count as one.
    extension EventLoop {
        /// The transfer's host shares connections among its requests: those that wait for one may begin.
        package final func shareConnections(of transfer: Transfer) {
            startNext(admission.share(transfer), afterOneOf: transfer.hostKey)
        }

        /// A host doesn't share connections any more, but for those that its given transfers go on over.
        package final func unshareConnections(_ key: Int, except sharing: [Transfer]) {
            startNext(admission.unshare(key, except: sharing), afterOneOf: key)
        }
    }
#endif
