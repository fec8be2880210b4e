/// Whether the machine has a network, by what the system says.
///
/// On Linux it has one when an interface is up and running (one whose cable isn't plugged in isn't), isn't the loopback, and has an address
/// of IPv4 or IPv6 that isn't link-local, or a default route of IPv4. Where containers run, the bridge to them counts, too. Of changes the kernel tells by a socket
/// (rtnetlink(7)), which all who wait share and which is open only while somebody waits. On Apple's platforms it has one when the path
/// that `NWPathMonitor` sees is satisfied, or would be by a connection; on watchOS, where it sees none for most apps, nobody can tell.
public struct SystemNetworkStatus: NetworkStatus {
    #if os(Linux)
        static let waiters = NetworkWaiters { whenOnline in
            try InterfaceWatch.begin { if Interfaces.areOnline { whenOnline() } }
        }
    #elseif canImport(Network)
        static let waiters = NetworkWaiters { PathWatch.begin($0) }
    #endif

    /// All are alike.
    public init() {}

    /// Whether there is a network now; true when the system doesn't say.
    public var isOnline: Bool {
        get async {
            #if os(Linux)
                Interfaces.areOnline
            #elseif os(watchOS)
                // Only an app that plays audio or has a call is shown a path (Apple's TN3135). URLSession has a network all the same.
                true
            #elseif canImport(Network)
                await PathWatch.isOnline
            #endif
        }
    }

    /// Waits until there is a network; returns at once if there is one already.
    ///
    /// - Throws: `CancellationError` when the task is cancelled, at once; `HTTPError` with the code `unsupported` when the system has no socket
    ///   to give on which it would tell of changes.
    public func waitUntilOnline() async throws {
        if await !isOnline { try await Self.waiters.wait() }
    }
}
