import Midstream

/// What the tool ends with.
struct ExitStatus {
    let expected: Int?
    let checksStatus: Bool

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
        if error.code == .unacceptableStatus, let status = error.response?.status { return of(status) }
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
