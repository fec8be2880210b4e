import Midstream

/// What the tool ends with.
struct ExitStatus {
    let expected: Int?
    let checksStatus: Bool
    /// Whether a socket was asked for, which no status but 101 opens.
    let isSocket: Bool

    func of(_ status: HTTPStatus) -> Int32 {
        if let expected {
            if status.code == expected { return 0 }
            Terminal.printError("midst: \(status) came where \(expected) was expected")
            return checksStatus ? Self.class(of: status) ?? 1 : 1
        }
        if checksStatus, let status = Self.class(of: status) { return status }
        return status.code < 400 ? 0 : 1
    }

    func of(_ error: HTTPError) -> Int32 {
        if error.cause == .unacceptableStatus, let status = error.response?.status {
            // A redirect that isn't followed is an answer; a success that was refused isn't what was asked for.
            let isMissing = expected == nil && status.code < (isSocket ? 400 : 300)
            return max(of(status), isMissing ? 1 : 0)
        }
        guard checksStatus else { return 1 }
        if let status = error.response?.status, let status = Self.class(of: status) { return status }
        switch error.cause {
        case .timeout, .deadlineExceeded: return 7
        case .nameResolution, .connection, .connectionLost, .tls, .proxy, .protocolViolation: return 6
        default: return 1
        }
    }

    /// 3, 4 or 5.
    private static func `class`(of status: HTTPStatus) -> Int32? { status.code >= 300 ? Int32(status.code / 100) : nil }
}
