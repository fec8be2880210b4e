public import MidstreamCore
internal import MidstreamTasks

/// How a response is downloaded to a file.
public struct DownloadOptions: Sendable {
    /// Whether a download that breaks off is continued, in the same call or by a later one, where the server shows that the rest is of the
    /// same version; true by default. Otherwise a failure leaves nothing.
    public var isResumable: Bool
    /// How often one call goes on, or starts again, after something has broken off; 5 by default. What breaks off over several
    /// connections at once counts once, and they wait together before they ask again.
    public var resumes: Int
    /// Over how many connections; 1 by default, 64 at most. More than one are used only for long responses (from 16 MiB on) of
    /// servers that allow it, and never over HTTP/2, whose connection gains nothing. Where one of them is refused while another brings bytes,
    /// it is done without. When a part that one of them asks for is of no use, one starts again.
    public var parallel: Int
    /// The digest that the file has to have, such as `.sha256(hex: "…")`; any by default.
    public var digest: ExpectedDigest?
    /// Whether the file is on the disk, and not only in the system's memory, before it takes the target's place; false by default.
    public var isSynchronized: Bool
    /// Gets the progress; nil by default.
    public var meter: TransferMeter?
    /// Gets how much of the file is there, one call after the other.
    var report: (@Sendable (TransferProgress) -> Void)?

    /// Makes options.
    public init(
        isResumable: Bool = true, parallel: Int = 1, digest: ExpectedDigest? = nil, resumes: Int = 5,
        isSynchronized: Bool = false, meter: TransferMeter? = nil
    ) {
        self.isResumable = isResumable
        self.parallel = parallel
        self.digest = digest
        self.resumes = resumes
        self.isSynchronized = isSynchronized
        self.meter = meter
    }
}
