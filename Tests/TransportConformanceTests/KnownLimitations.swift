import Testing

/// What a transport can't do, for a reason that doesn't lie in this package. All of it is in this list, so that whoever chooses
/// a transport sees at once what they give up, and whoever reads a test needn't look for exceptions in it.
///
/// A case that ``Effect/fails`` is run, and its passing is reported: the entry is then to be removed.
struct KnownLimitation: Sendable {
    enum Effect: Sendable {
        /// The case isn't run, since it would end the process or never end.
        case skipped
        /// The case is run and fails.
        case fails
        /// The case is run and fails now and then.
        case failsSometimes
    }

    let transport: TransportUnderTest
    let ability: Ability
    let effect: Effect
    let reason: String

    init(_ transport: TransportUnderTest, _ ability: Ability, _ effect: Effect, _ reason: String) {
        self.transport = transport
        self.ability = ability
        self.effect = effect
        self.reason = reason
    }

    static func of(_ transport: TransportUnderTest, _ ability: Ability) -> KnownLimitation? {
        all.first { $0.transport == transport && $0.ability == ability }
    }

    static let all: [KnownLimitation] = urlSession + curl
}

/// What a case needs, where not every transport has it.
enum Ability: Sendable {
    case bodyWithGet, caseOfMethods, chunkedUpload, uploadWhileItIsMade, uploadBackPressure, emptyRequestFields
    case orderOfRequestFields, orderOfResponseFields, bytesThatAreNoUTF8, versionOfResponses, trailers, ownAcceptEncoding
    case endOfEncodedBody, endUnderTLS, connectionField, noUnaskedRepetition, manyConnections, endInsideHead, bytesBeforeAFailure
    case caseOfFieldNames, liberalSpacing, statusLineWithoutReason, bodyOfRedirect, ipv6Addresses
    case responseBackPressure, upgrade, oneConnectionForUploads, noticeOfLeaving
    case strictStatusLine, strictChunks, strictContentLength, strictFolding, strictTransferCodings
}

/// Runs a case that needs an ability, or none, as far as the transport has it.
func needing(
    _ ability: Ability?, of transport: TransportUnderTest, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
) async throws {
    guard let limitation = ability.flatMap({ KnownLimitation.of(transport, $0) }) else { return try await body() }
    let reason = Comment(rawValue: limitation.reason)
    switch limitation.effect {
    case .skipped: try Test.cancel(reason, sourceLocation: sourceLocation)
    case .fails: await withKnownIssue(reason, sourceLocation: sourceLocation) { try await body() }
    case .failsSometimes:
        await withKnownIssue(reason, isIntermittent: true, sourceLocation: sourceLocation) { try await body() }
    }
}

extension KnownLimitation {
    #if os(Linux)
        private static let curl: [KnownLimitation] = [
            .init(
                .curl, .upgrade, .fails,
                "libcurl ends a transfer at a 101, and its multi interface keeps the connection to itself."),
            .init(.http3, .upgrade, .fails, "HTTP/3 has no upgrade (RFC 9114 §4.5)."),
            .init(.http3, .caseOfFieldNames, .fails, "Names of fields are in small letters (RFC 9114 §4.2)."),
            .init(.http3, .orderOfRequestFields, .fails, "The test knows its fields by capitals."),
            .init(.http3, .orderOfResponseFields, .fails, "The test knows its fields by capitals."),
            .init(.http3, .versionOfResponses, .fails, "It is the version that the server in front speaks."),
            .init(.http3, .connectionField, .fails, "HTTP/3 has no such field (RFC 9114 §4.2)."),
            .init(
                .http3, .oneConnectionForUploads, .failsSometimes,
                "Large and streamed bodies have connections of their own, which libcurl may break."),
            .init(
                .http3, .noticeOfLeaving, .skipped,
                "libcurl tells a server of a request that is given up only if a packet may go out at that moment."),
            .init(.http3, .uploadBackPressure, .skipped, "The server in front takes in whatever comes."),
            .init(.http3, .ipv6Addresses, .skipped, "The server in front has a certificate of other names."),
        ]
    #else
        private static let curl: [KnownLimitation] = []
    #endif

    #if canImport(FoundationNetworking)
        private static let urlSession: [KnownLimitation] = [
            .init(.urlSession, .upgrade, .fails, "A connection isn't handed over to another protocol."),
            .init(.urlSession, .trailers, .skipped, "A chunked response with trailers ends the process."),
            .init(.urlSession, .chunkedUpload, .fails, "A body is read to its end before it is sent, and its length is known."),
            .init(.urlSession, .uploadWhileItIsMade, .skipped, "A body is read to its end before it is sent: it would never be."),
            .init(.urlSession, .uploadBackPressure, .skipped, "A body is read to its end before it is sent, into a file."),
            .init(
                .urlSession, .responseBackPressure, .skipped,
                "Nothing makes the sender wait: what isn't read goes to a file, and past a limit the response fails."),
            .init(.urlSession, .manyConnections, .skipped, "No more than six connections to a host; further requests wait."),
            .init(.urlSession, .bodyWithGet, .fails, "URLSession refuses a GET with a body."),
            .init(.urlSession, .caseOfMethods, .fails, "The usual methods are turned into capitals."),
            .init(.urlSession, .caseOfFieldNames, .fails, "Each word of a name gets a capital."),
            .init(.urlSession, .orderOfRequestFields, .fails, "Fields are kept in a dictionary."),
            .init(.urlSession, .orderOfResponseFields, .fails, "Fields are kept in a dictionary."),
            .init(.urlSession, .bytesThatAreNoUTF8, .fails, "A head that isn't UTF-8 is taken for a broken one."),
            .init(.urlSession, .liberalSpacing, .fails, "A field without a space after its colon is taken for a broken one."),
            .init(
                .urlSession, .statusLineWithoutReason, .fails, "A status line that ends with its code is taken for a broken one."),
            .init(.urlSession, .versionOfResponses, .fails, "Foundation doesn't tell the version on Linux."),
            .init(
                .urlSession, .bodyOfRedirect, .failsSometimes, "The body of a redirect that could be followed isn't delivered."),
            .init(
                .urlSession, .ipv6Addresses, .fails, "Foundation takes the brackets from an address, and libcurl then refuses it."
            ),
            .init(.urlSession, .ownAcceptEncoding, .fails, "What libcurl knows is decoded, whoever has asked for it."),
            .init(
                .urlSession, .endOfEncodedBody, .failsSometimes, "libcurl 7.88 doesn't notice that an encoded body lacks its end."
            ),
            .init(
                .urlSession, .endUnderTLS, .skipped,
                "libcurl 7.88 takes any end of a connection under TLS for the body's. Nor can it be tried: nobody but the system's authorities is trusted."
            ),
            .init(.urlSession, .endInsideHead, .skipped, "A connection that is closed within a head ends the process."),
            .init(.urlSession, .strictStatusLine, .failsSometimes, "Foundation takes what has the form of a status for one."),
            .init(.urlSession, .strictFolding, .fails, "A head that begins with a folded line is taken for a lost connection."),
            .init(
                .urlSession, .strictTransferCodings, .fails,
                "libcurl undoes them where it can, and refuses them only once the head has been told."),
            .init(.urlSession, .strictContentLength, .failsSometimes, "libcurl takes a length that is too large for none."),
            .init(
                .urlSession, .noUnaskedRepetition, .skipped,
                "libcurl sends a request again when a kept connection dies under it, and Foundation doesn't stop it."),
        ]
    #else
        // What Apple's documentation says, and what others have met. None of it has been run for this list: those that fail sometimes may
        // always pass.
        private static let urlSession: [KnownLimitation] = [
            .init(
                .urlSession, .upgrade, .fails,
                "What is handed over is a socket of the system's, to which an end without a close frame, such as this one, is a loss."
            ),
            .init(.urlSession, .trailers, .fails, "URLSession doesn't tell trailers."),
            .init(.urlSession, .manyConnections, .skipped, "No more than six connections to a host; further requests wait."),
            .init(.urlSession, .bodyWithGet, .fails, "URLSession refuses a GET with a body."),
            .init(.urlSession, .orderOfRequestFields, .fails, "Fields are kept in a dictionary."),
            .init(.urlSession, .orderOfResponseFields, .fails, "Fields are kept in a dictionary."),
            .init(.urlSession, .versionOfResponses, .failsSometimes, "The version is known when the task has ended."),
            .init(.urlSession, .caseOfMethods, .failsSometimes, "The usual methods may be turned into capitals."),
            .init(.urlSession, .caseOfFieldNames, .failsSometimes, "Known names get the usual spelling."),
            .init(.urlSession, .emptyRequestFields, .failsSometimes, "A field without a value may be left out."),
            .init(.urlSession, .connectionField, .failsSometimes, "The field belongs to the system."),
            .init(.urlSession, .bytesThatAreNoUTF8, .failsSometimes, "The system guesses what bytes beyond ASCII mean."),
            .init(.urlSession, .liberalSpacing, .failsSometimes, "How a broken head is read isn't documented."),
            .init(.urlSession, .statusLineWithoutReason, .failsSometimes, "How a broken head is read isn't documented."),
            .init(.urlSession, .strictStatusLine, .failsSometimes, "How a broken head is read isn't documented."),
            .init(.urlSession, .strictChunks, .failsSometimes, "How broken chunks are read isn't documented."),
            .init(.urlSession, .strictContentLength, .failsSometimes, "How a broken length is read isn't documented."),
            .init(.urlSession, .endInsideHead, .failsSometimes, "A head that is cut may pass for a whole one."),
            .init(
                .urlSession, .ownAcceptEncoding, .failsSometimes, "What the system knows is decoded, whoever has asked for it."),
            .init(.urlSession, .endUnderTLS, .failsSometimes, "Whether the end has to be announced isn't documented."),
            .init(.urlSession, .endOfEncodedBody, .failsSometimes, "An encoded body that lacks its end may pass for whole."),
            .init(
                .urlSession, .bytesBeforeAFailure, .failsSometimes, "What has come may be thrown away when the connection breaks."
            ),
            .init(.urlSession, .responseBackPressure, .failsSometimes, "To suspend a task is a request, not a promise."),
            .init(
                .urlSession, .noUnaskedRepetition, .failsSometimes,
                "A request is sent again when a kept connection dies under it, by rules that aren't documented."),
        ]
    #endif
}
