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
    case endOfEncodedBody, connectionField, noUnaskedRepetition, manyConnections, endInsideHead, bytesBeforeAFailure
    case strictStatusLine, strictChunks, strictContentLength
}

/// Runs a case that needs an ability, as far as the transport has it.
func needing(
    _ ability: Ability, of transport: TransportUnderTest, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
) async throws {
    guard let limitation = KnownLimitation.of(transport, ability) else { return try await body() }
    let reason = Comment(rawValue: limitation.reason)
    switch limitation.effect {
    case .skipped: try Test.cancel(reason, sourceLocation: sourceLocation)
    case .fails: await withKnownIssue(reason, sourceLocation: sourceLocation) { try await body() }
    case .failsSometimes:
        await withKnownIssue(reason, isIntermittent: true, sourceLocation: sourceLocation) { try await body() }
    }
}

extension KnownLimitation {
    #if canImport(FoundationNetworking)
        private static let urlSession: [KnownLimitation] = [
            .init(.urlSession, .trailers, .skipped, "A chunked response with trailers ends the process.")
        ]
    #else
        private static let urlSession: [KnownLimitation] = []
    #endif

    private static let curl: [KnownLimitation] = []
}
