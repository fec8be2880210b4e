#if os(Linux)
    internal import CCurl
    import Glibc
    internal import Interception
    internal import MidstreamCore
    internal import MidstreamTransport
    internal import MidstreamLoop

    /// A loop that drives transfers through one of curl's multi handles.
    ///
    /// `@unchecked Sendable`: `options` is constant, and everything else is touched only on the loop's thread.
    final class CurlLoop: EventLoop, CurlTransferLoop, @unchecked Sendable {
        let options: ConnectionOptions

        // Touched only on the loop's thread.
        let multi: UnsafeMutableRawPointer
        var sockets: SocketWatch
        private var handles = HandlePool()
        /// Nil where nothing has to be watched.
        let floods: FloodWatch?
        /// How many connections curl may keep.
        private(set) var keptConnections = 1024
        /// How many there may be at all.
        private let mostConnections: Int

        /// Starts the thread.
        ///
        /// - Parameter sharesConnections: Whether several requests at a time may use an HTTP/2 connection.
        /// - Throws: ``HTTPError`` when the system gives no thread, no descriptor or no memory.
        init(options: ConnectionOptions, share: LoopShare, sharesConnections: Bool = true) throws {
            guard let multi = curl_multi_init() else { throw HTTPError.noResources(ENOMEM) }
            self.options = options
            self.multi = multi
            let poller = Poller()
            sockets = SocketWatch(poller)
            let limits = options.configuration
            let hostLimit = limits.maximumConnectionsPerHost.map(share.of) ?? 0
            let totalLimit = limits.maximumConnections.map(share.of) ?? 0
            mostConnections = totalLimit > 0 ? totalLimit : .max
            floods = FloodWatch.isNeeded && limits.httpVersions != .http1Only ? FloodWatch() : nil
            super.init(
                "midstream-curl", poller, limits: options.limits,
                admission: Admission(hostLimit: hostLimit, totalLimit: totalLimit, share: share),
                usesCallersThreads: limits.usesCallersThreads)
            SocketCallbacks.install(on: multi, loop: self)
            _ = ccurl_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, hostLimit)
            _ = ccurl_multi_set_long(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, totalLimit)
            // The loop beside the others has half as many as those.
            let descriptors = sharesConnections ? share.ofDescriptors : max(1, share.ofDescriptors / 2)
            keptConnections = min(totalLimit > 0 ? totalLimit : keptConnections, descriptors)
            _ = ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, keptConnections)
            if !sharesConnections { _ = ccurl_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_NOTHING)) }
            try run()
        }

        override func willDrive() { floods?.begin() }

        override func didDrive() { floods?.end() }

        // MARK: Curl's turns

        override func handle(_ descriptor: Int32, _ readiness: Readiness) {
            let mask = sockets.meaning(of: readiness, on: descriptor)
            if mask != 0 { act(descriptor, mask) }
        }

        override func runTimers() {
            // Bounded, so that a state of curl's that always wants to go on can't lock out the sockets.
            for _ in 0..<8 {
                guard let due = timer, due == 0 || due <= MonotonicTime.now() else { return }
                timer = nil
                act(CURL_SOCKET_TIMEOUT, 0)
            }
        }

        private func act(_ descriptor: Int32, _ mask: Int32) {
            assert(isCurrent)
            var running: Int32 = 0
            guard let floods else {
                curl_multi_socket_action(multi, descriptor, mask, &running)
                return
            }
            floods.watch { curl_multi_socket_action(multi, descriptor, mask, &running) }
        }

        func lookSoon(at descriptor: Int32) { post(.run { [weak self] in self?.act(descriptor, CURL_CSELECT_IN) }) }

        override func collectEnded() {
            var waiting: Int32 = 0
            while let message = curl_multi_info_read(multi, &waiting) {
                guard message.pointee.msg == CURLMSG_DONE, let curl = message.pointee.easy_handle,
                    let context = ccurl_info_private(curl)
                else { continue }
                let code = message.pointee.data.result
                let handle = Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue()
                if let transfer = handle.transfer { finish(transfer, code) }
            }
        }

        override var mayRest: Bool { timer == nil }

        // MARK: A transfer's way

        override func begin(_ transfer: Transfer) throws {
            let transfer = transfer.curl
            guard let handle = handles.take() else { throw HTTPError.noResources(ENOMEM) }
            do {
                try transfer.prepare(handle)
            } catch {
                handles.give(back: handle, isClean: false)
                throw error
            }
            handle.transfer = transfer
            transfer.begin(with: handle)
            if active.count > keptConnections, keptConnections < mostConnections { keepMoreConnections() }
            let code = curl_multi_add_handle(multi, handle.curl)
            guard code == CURLM_OK else {
                throw HTTPError(.connection, String(cString: curl_multi_strerror(code)), phase: .notSent)
            }
        }

        /// Curl keeps as many as have been used at a time, since it counts those in use among them: otherwise each of the rest would be
        /// closed after a request, and another be opened for the next.
        private func keepMoreConnections() {
            keptConnections = min(2 * keptConnections, mostConnections)
            _ = ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, keptConnections)
        }

        override func settle(_ transfer: Transfer) {
            if transfer.curl.settle() { finish(transfer.curl, CURLE_OK) }
        }

        /// Makes used handles ready, once the responses have been delivered.
        override func tidy() { handles.renewSpent { setUp($0, for: $1) } }

        /// Ends a transfer that curl has ended, or that is as good as ended.
        private func finish(_ transfer: CurlTransfer, _ code: CURLcode) {
            guard let handle = transfer.handle else { return }
            var failure: (any Error)?
            do { try transfer.conclude(code, handle) } catch { failure = error }
            finish(transfer, failure, isClean: code == CURLE_OK)
        }

        override func release(_ transfer: Transfer, isClean: Bool) {
            let transfer = transfer.curl
            guard let handle = transfer.end() else { return }
            curl_multi_remove_handle(multi, handle.curl)
            if isClean, let descriptor = transfer.descriptor {
                sockets.kept.ended(
                    ObjectIdentifier(transfer), of: transfer.request.urlText, on: descriptor,
                    isShared: transfer.head.version.sharesConnections)
            }
            handles.give(back: handle, isClean: isClean && transfer.head.isComplete)
        }

        /// Curl keeps a connection of HTTP/2 otherwise; while others use it, it stays theirs.
        override func distrustConnection(of transfer: Transfer) {
            if !transfer.awaitsBody { transfer.curl.handle?.set(CURLOPT_FORBID_REUSE, 1) }
        }

        override func countConnections(in statistics: inout TransportStatistics) {
            var used: [Int32: String?] = [:]
            for transfer in active {
                if let descriptor = transfer.curl.descriptor {
                    used[descriptor] = originOfConnection(for: transfer.request.urlText)
                }
            }
            for descriptor in sockets.connections {
                if let origin = used[descriptor] {
                    statistics.count(\.openConnections, origin)
                } else if let url = sockets.kept.lastURL(ofIdle: descriptor) {
                    let origin = originOfConnection(for: url)
                    statistics.count(\.openConnections, origin)
                    statistics.count(\.idleConnections, origin)
                } else {
                    statistics.count(\.openConnections, nil)
                }
            }
        }

        /// Nil where a proxy may forward requests to several origins over it.
        private func originOfConnection(for url: String) -> String? {
            if limits.forwardsPlainRequests, !url.hasSecureScheme { return nil }
            return HTTPOrigin(url)?.description
        }

        override func tearDown() {
            handles = HandlePool()
            curl_multi_cleanup(multi)
            sockets.close()
        }
    }
#endif
