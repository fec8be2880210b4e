public import MidstreamCore

/// How a response is downloaded to a file.
public struct DownloadOptions: Sendable {
    /// Whether what is there already is kept when a download breaks off.
    public enum Resume: String, Sendable, Hashable {
        /// Where the server shows that the rest is of the same version: within the call, and by a later one.
        case automatic
        /// Never: a failure leaves nothing.
        case never
    }

    /// Whether what is there already is kept; `.automatic` by default.
    public var resume: Resume
    /// How often one call goes on, or starts again, after something has broken off; 5 by default.
    public var resumes: Int
    /// Over how many connections; 1 by default. Of more only long responses (from 16 MiB on) of servers that allow it are taken, and none
    /// over HTTP/2, whose connection gains nothing.
    public var parallel: Int
    /// What the digest of the file has to be; any by default. With the module `MidstreamSigning` there is `.sha256(_:)`.
    public var digest: ExpectedDigest?
    /// Whether the file is on the disk, and not only in the system's memory, before it takes the target's place; false by default.
    public var isSynchronized: Bool
    /// Who is told how far it has come; nobody by default.
    public var meter: TransferMeter?

    /// Makes options.
    public init(
        resume: Resume = .automatic, parallel: Int = 1, digest: ExpectedDigest? = nil, resumes: Int = 5,
        isSynchronized: Bool = false,
        meter: TransferMeter? = nil
    ) {
        self.resume = resume
        self.parallel = parallel
        self.digest = digest
        self.resumes = resumes
        self.isSynchronized = isSynchronized
        self.meter = meter
    }
}
