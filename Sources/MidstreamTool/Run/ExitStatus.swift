import Midstream

/// What the tool ends with.
struct ExitStatus {
    let arguments: Arguments

    func of(_ status: HTTPStatus) -> Int32 {
        if let expected = arguments.expectedStatus {
            if status.code == expected { return 0 }
            Terminal.printError("midst: \(status) came where \(expected) was expected")
            return arguments.checksStatus ? Self.class(of: status) ?? 1 : 1
        }
        if arguments.checksStatus, let status = Self.class(of: status) { return status }
        return status.code < 400 ? 0 : 1
    }

    func of(_ error: HTTPError) -> Int32 {
        if error.cause == .unacceptableStatus, let status = error.response?.status {
            // A redirect that isn't followed is an answer, but opens no socket; a success that was refused isn't what was asked for.
            let isMissing = arguments.expectedStatus == nil && status.code < (arguments.isSocket ? 400 : 300)
            return max(of(status), isMissing ? 1 : 0)
        }
        guard arguments.checksStatus else { return 1 }
        if let status = error.response?.status, let status = Self.class(of: status) { return status }
        switch error.cause {
        case .timeout, .deadlineExceeded: return 7
        case .nameResolution, .connection, .connectionLost, .tls, .proxy, .protocolViolation: return 6
        default: return 1
        }
    }

    /// 3, 4 or 5; from 600 on it is 5, too (RFC 9110 §15).
    private static func `class`(of status: HTTPStatus) -> Int32? { status.code >= 300 ? Int32(min(status.code / 100, 5)) : nil }
}
