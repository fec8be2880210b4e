#if os(Linux)
    internal import CCurl
    internal import MidstreamCore

    extension CurlTransfer {
        /// What curl has measured of a transfer that failed: zero for phases that weren't reached.
        func metricsSoFar(_ handle: EasyHandle) -> TransportMetrics {
            var metrics = TransportMetrics(handle, tlsVersion: tlsVersion)
            for phase in [\TransportMetrics.nameLookup, \.connect, \.sendStart] where metrics[keyPath: phase] == .zero {
                metrics[keyPath: phase] = nil
            }
            // Nor is a connect that failed a kept connection.
            if handle.long(CURLINFO_REQUEST_SIZE) == 0 { metrics.isReusedConnection = nil }
            // Curl counts the connection's end, too.
            if !hasBegunToAnswer { metrics.firstByte = nil }
            return metrics
        }
    }

    extension TransportMetrics {
        /// What curl has measured about the transfer that a handle has just ended.
        init(_ handle: EasyHandle, tlsVersion: String?) {
            self.init()
            nameLookup = Self.time(handle, CURLINFO_NAMELOOKUP_TIME_T)
            connect = Self.time(handle, CURLINFO_CONNECT_TIME_T)
            if tlsVersion != nil { tlsHandshake = Self.time(handle, CURLINFO_APPCONNECT_TIME_T) }
            sendStart = Self.time(handle, CURLINFO_PRETRANSFER_TIME_T)
            firstByte = Self.time(handle, CURLINFO_STARTTRANSFER_TIME_T)
            total = Self.time(handle, CURLINFO_TOTAL_TIME_T)
            remoteAddress = Self.address(handle, CURLINFO_PRIMARY_IP)
            remotePort = Self.port(handle, CURLINFO_PRIMARY_PORT)
            localAddress = Self.address(handle, CURLINFO_LOCAL_IP)
            localPort = Self.port(handle, CURLINFO_LOCAL_PORT)
            self.tlsVersion = tlsVersion
            isReusedConnection = handle.long(CURLINFO_NUM_CONNECTS) == 0
            let (sent, received) = (handle.offset(CURLINFO_SIZE_UPLOAD_T), handle.offset(CURLINFO_SIZE_DOWNLOAD_T))
            requestBodyBytes = sent
            responseBodyBytes = received
            bytesSent = Int64(handle.long(CURLINFO_REQUEST_SIZE)) + sent
            bytesReceived = Int64(handle.long(CURLINFO_HEADER_SIZE)) + received
        }

        /// Counts the wait for a place as well.
        @inline(never)
        mutating func begin(earlierBy wait: Duration) {
            var phases: [WritableKeyPath<TransportMetrics, Duration?>] = [\.sendStart, \.firstByte, \.total]
            // Of a kept connection these were over before.
            if isReusedConnection != true {
                phases += [\.nameLookup, \.connect, \.tlsHandshake]
                connectStart = wait
            }
            for phase in phases { self[keyPath: phase]? += wait }
        }

        private static func time(_ handle: EasyHandle, _ info: CURLINFO) -> Duration {
            .microseconds(handle.offset(info))
        }

        /// A unix domain socket has neither address nor port.
        private static func address(_ handle: EasyHandle, _ info: CURLINFO) -> String? {
            handle.string(info).flatMap { $0.isEmpty ? nil : $0 }
        }

        private static func port(_ handle: EasyHandle, _ info: CURLINFO) -> Int? {
            let port = handle.long(info)
            return port > 0 ? port : nil
        }
    }
#endif
