extension HTTPClient: CustomStringConvertible, CustomReflectable {
    /// The base URL without its secrets.
    public var description: String { "HTTPClient" + (baseURL.map { "(\(URLText.redacted($0)))" } ?? "") }

    /// Shows the base URL and the settings without their secrets, and the names of the interceptors, which may hold some.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "baseURL": baseURL.map(URLText.redacted) as Any, "configuration": configuration, "pipeline": pipeline,
            ])
    }
}

extension HTTPClient.Configuration: CustomReflectable {
    /// Shows the settings without their secrets; of validators and clock only the names.
    public var customMirror: Mirror {
        let items = query.map { "\($0.percentEncoded)=\($1.percentEncoded)" }.joined(separator: "&")
        var headers = headers
        for name in redaction.headers { headers.markSensitive(name) }
        return Mirror(
            self,
            children: [
                "headers": headers, "query": redaction.url("?\(items)"), "timeout": timeout as Any,
                "deadline": deadline as Any,
                "maxRetries": maxRetries, "validators": validators.map { "\(type(of: $0))" },
                "maximumBufferedBody": maximumBufferedBody, "clock": "\(type(of: clock))", "recordsTrace": recordsTrace,
            ], displayStyle: .struct)
    }
}
