#if !canImport(FoundationNetworking)
    internal import Foundation
    internal import MidstreamCore
    internal import Security

    extension TransportMetrics {
        /// What the system measured; durations count from the start of the task.
        init(_ transaction: URLSessionTaskTransactionMetrics, taskInterval: DateInterval) {
            self.init()
            func elapsed(_ date: Date?) -> Duration? {
                date.map { .seconds($0.timeIntervalSince(taskInterval.start)) }
            }
            nameLookup = elapsed(transaction.domainLookupEndDate)
            connect = elapsed(transaction.secureConnectionStartDate ?? transaction.connectEndDate)
            tlsHandshake = elapsed(transaction.secureConnectionEndDate)
            sendStart = elapsed(transaction.requestStartDate)
            firstByte = elapsed(transaction.responseStartDate)
            total = elapsed(transaction.responseEndDate ?? taskInterval.end)
            remoteAddress = transaction.remoteAddress
            remotePort = transaction.remotePort
            localAddress = transaction.localAddress
            localPort = transaction.localPort
            isReusedConnection = transaction.isReusedConnection
            requestBodyBytes = transaction.countOfRequestBodyBytesSent
            responseBodyBytes = transaction.countOfResponseBodyBytesReceived
            bytesSent = transaction.countOfRequestHeaderBytesSent + transaction.countOfRequestBodyBytesSent
            bytesReceived = transaction.countOfResponseHeaderBytesReceived + transaction.countOfResponseBodyBytesReceived
            tlsVersion =
                switch transaction.negotiatedTLSProtocolVersion {
                case .TLSv12: "TLSv1.2"
                case .TLSv13: "TLSv1.3"
                default: nil
                }
        }
    }

    extension HTTPVersion {
        /// The version that an ALPN protocol name stands for (RFC 7301 §6).
        init?(protocolName: String?) {
            switch protocolName?.lowercased() {
            case "http/1.0": self = .http1_0
            case "http/1.1": self = .http1_1
            case "h2": self = .http2
            case "h3": self = .http3
            default: return nil
            }
        }
    }
#endif
