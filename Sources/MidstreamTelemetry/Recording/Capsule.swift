internal import Foundation
public import MidstreamCore

extension HTTPError {
    /// The exchanges of the call that failed, to be attached to a report and to be played again by ``ReplayTransport``; nil unless the client
    /// has observers or ``HTTPClient/Configuration/keepsCapsules`` is on.
    ///
    /// - Parameters:
    ///   - redaction: What is withheld beside what always is; nil: as the client's configuration says.
    ///   - includesSecrets: Whether nothing is withheld; false by default.
    public func capsule(redaction: Redaction? = nil, includesSecrets: Bool = false) -> HARArchive? {
        callRecord.map { call in
            var archive = HARArchive(
                call.exchanges, redaction: redaction ?? call.redaction, includesSecrets: includesSecrets)
            for place in archive.entries.indices { archive.entries[place]._midstream?.events = call.events.map(\.name) }
            return archive
        }
    }
}
