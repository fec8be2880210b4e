// swift-tools-version: 6.2
import PackageDescription

/// Errors in CI. Whoever depends on the package and has a newer compiler gets its warnings as warnings.
let warnings: [SwiftSetting] =
    Context.environment["MIDSTREAM_WARNINGS_AS_ERRORS"] == nil ? [] : [.treatAllWarnings(as: .error)]

/// Every target is built the same way; a public import says so, an existential says `any`.
let settings: [SwiftSetting] =
    warnings + [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]

let curl = Target.Dependency.target(name: "MidstreamCurl", condition: .when(platforms: [.linux]))
let wire = Target.Dependency.target(name: "MidstreamWire", condition: .when(platforms: [.linux]))

/// The transports of the platform and the traits.
let transports: [Target.Dependency] = [
    .target(
        name: "MidstreamURLSession", condition: .when(platforms: [.macOS, .macCatalyst, .iOS, .tvOS, .watchOS, .visionOS])),
    // On Linux a program loads FoundationNetworking for it, so only where it is asked for.
    .target(name: "URLSessionOnLinux", condition: .when(platforms: [.linux], traits: ["URLSession"])),
    .target(name: "MidstreamCurl", condition: .when(platforms: [.linux], traits: ["Curl"])),
    .target(name: "MidstreamWire", condition: .when(platforms: [.linux], traits: ["Wire"])),
]

let package = Package(
    name: "Midstream",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "Midstream", targets: ["Midstream"]),
        .library(name: "MidstreamClient", targets: ["MidstreamClient"]),
        .library(name: "Interception", targets: ["Interception"]),
        .library(name: "MidstreamResilience", targets: ["MidstreamResilience"]),
        .library(name: "MidstreamSigning", targets: ["MidstreamSigning"]),
        .library(name: "MidstreamCacheStore", targets: ["MidstreamCacheStore"]),
        .library(name: "MidstreamDiskCache", targets: ["MidstreamDiskCache"]),
        .library(name: "MidstreamTelemetry", targets: ["MidstreamTelemetry"]),
        .library(name: "MidstreamFleet", targets: ["MidstreamFleet"]),
        .library(name: "MidstreamTransportSecurity", targets: ["MidstreamTransportSecurity"]),
        .library(name: "MidstreamNetworkStatus", targets: ["MidstreamNetworkStatus"]),
        .library(name: "MidstreamCurl", targets: ["MidstreamCurl"]),
        .library(name: "MidstreamWire", targets: ["MidstreamWire"]),
        .library(name: "MidstreamWebSocket", targets: ["MidstreamWebSocket"]),
        .library(name: "MidstreamURLSession", targets: ["MidstreamURLSession"]),
        .library(name: "MidstreamTesting", targets: ["MidstreamTesting"]),
        .executable(name: "midst", targets: ["MidstreamTool"]),
    ],
    traits: [
        .trait(
            name: "Wire",
            description: "Connections of our own, the default transport on Linux. Needs OpenSSL's and nghttp2's headers."),
        .trait(
            name: "Curl", description: "The libcurl transport, the default one on Linux without Wire. Needs libcurl's headers."),
        .trait(
            name: "URLSession",
            description:
                "The URLSession transport on Linux, too; the default one there without Wire and Curl. Elsewhere it always is."),
        .default(enabledTraits: ["Wire"]),
    ],
    targets: [
        .target(name: "MidstreamPlatform", swiftSettings: settings),
        .target(name: "Interception", dependencies: ["MidstreamPlatform"], swiftSettings: settings),
        .systemLibrary(name: "CCrypto"),
        .target(
            name: "MidstreamCore",
            dependencies: ["Interception", "MidstreamPlatform", .target(name: "CCrypto", condition: .when(platforms: [.linux]))],
            swiftSettings: settings),
        .target(
            name: "MidstreamAuthentication", dependencies: ["MidstreamCore", "Interception"], swiftSettings: settings),
        .target(name: "MidstreamCacheStore", dependencies: ["MidstreamCore", "Interception"], swiftSettings: settings),
        .target(
            name: "MidstreamCache", dependencies: ["MidstreamCacheStore", "MidstreamCore", "Interception"],
            swiftSettings: settings),
        .target(name: "MidstreamCookies", dependencies: ["MidstreamCore", "Interception"], swiftSettings: settings),
        .target(name: "MidstreamObservability", dependencies: ["MidstreamCore", "Interception"], swiftSettings: settings),
        .target(name: "MidstreamResilience", dependencies: ["MidstreamCore", "Interception"], swiftSettings: settings),
        .target(name: "MidstreamTransportSecurity", dependencies: ["MidstreamCore", "Interception"], swiftSettings: settings),
        .target(
            name: "MidstreamNetworkStatus", dependencies: ["MidstreamCore", "Interception", "MidstreamPlatform"],
            swiftSettings: settings),
        .target(name: "MidstreamTemplates", dependencies: ["MidstreamCore"], swiftSettings: settings),
        .target(
            name: "MidstreamStreams", dependencies: ["MidstreamCore", "Interception", "MidstreamPlatform"],
            swiftSettings: settings),
        .systemLibrary(name: "CCompression"),
        .target(
            name: "MidstreamCompression", dependencies: ["MidstreamCore", "Interception", "CCompression"], swiftSettings: settings
        ),
        .target(
            name: "MidstreamTasks", dependencies: ["MidstreamCore", "Interception", "MidstreamPlatform"], swiftSettings: settings),
        .target(
            name: "MidstreamTransfers", dependencies: ["MidstreamTasks", "MidstreamCore", "Interception", "MidstreamPlatform"],
            swiftSettings: settings),
        .target(name: "MidstreamTransport", dependencies: ["MidstreamCore"], swiftSettings: settings),
        .systemLibrary(name: "CLinux"),
        .target(
            name: "MidstreamLoop",
            dependencies: [
                "MidstreamTransport", "MidstreamCore", "Interception", "MidstreamPlatform",
                .target(name: "CCompression", condition: .when(platforms: [.linux])),
                .target(name: "CLinux", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: settings),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .target(
            name: "MidstreamCurl",
            dependencies: [
                "MidstreamTransport", "MidstreamCore", "Interception", "MidstreamLoop",
                .target(name: "CCurl", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: settings),
        .systemLibrary(name: "CTLS", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CNghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
        .target(
            name: "MidstreamWire",
            dependencies: [
                "MidstreamTransport", "MidstreamCore", "Interception", "MidstreamPlatform", "MidstreamLoop",
                .target(name: "CTLS", condition: .when(platforms: [.linux])),
                .target(name: "CNghttp2", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: settings),
        .target(name: "WebSocketFrames", dependencies: ["CCompression", "MidstreamPlatform"], swiftSettings: settings),
        .target(
            name: "MidstreamWebSocket", dependencies: ["WebSocketFrames", "MidstreamCore", "Interception"],
            swiftSettings: settings),
        .target(
            name: "MidstreamURLSession",
            dependencies: ["WebSocketFrames", "MidstreamTransport", "MidstreamCore", "Interception", "MidstreamPlatform"],
            swiftSettings: settings),
        // SwiftPM lets a target depend on another under one condition only; this is the way to it under a second one.
        .target(name: "URLSessionOnLinux", dependencies: ["MidstreamURLSession"], swiftSettings: settings),
        .target(
            name: "MidstreamClient", dependencies: ["Interception", "MidstreamCore", "MidstreamTasks"] + transports,
            swiftSettings: settings),
        .target(
            name: "Midstream",
            dependencies: [
                "MidstreamClient", "MidstreamAuthentication", "MidstreamCache", "MidstreamCompression", "MidstreamCookies",
                "MidstreamObservability", "MidstreamResilience", "MidstreamStreams", "MidstreamTemplates", "MidstreamTransfers",
            ],
            swiftSettings: settings),
        .target(name: "MidstreamSigning", dependencies: ["MidstreamCore", "Interception"], swiftSettings: settings),
        .systemLibrary(name: "CMidstreamSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .target(
            name: "MidstreamDiskCache",
            dependencies: [
                "MidstreamCacheStore", "MidstreamCore", "Interception", "MidstreamPlatform",
                .target(name: "CMidstreamSQLite", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: settings),
        .target(
            name: "LoopbackServer", dependencies: ["MidstreamCore", "Interception", "MidstreamPlatform"], swiftSettings: settings),
        .target(
            name: "MidstreamTelemetry",
            dependencies: [
                "MidstreamObservability", "MidstreamCompression", "LoopbackServer", "MidstreamCore", "Interception",
            ],
            resources: [
                .embedInCode("Report/page.html"), .embedInCode("Report/style.css"), .embedInCode("Report/script.js"),
                .embedInCode("Report/live.js"),
            ],
            swiftSettings: settings),
        .target(
            name: "MidstreamFleet",
            dependencies: [
                "MidstreamAuthentication", "MidstreamCacheStore", "MidstreamResilience", "MidstreamTransport",
                "MidstreamCore",
                "Interception",
                .target(name: "CCrypto", condition: .when(platforms: [.linux])), wire,
            ],
            swiftSettings: settings),
        .target(
            name: "MidstreamTesting",
            dependencies: [
                "MidstreamTelemetry", "LoopbackServer", "MidstreamCacheStore", "MidstreamResilience",
                "MidstreamTasks", "MidstreamCore",
                "WebSocketFrames",
                "Interception",
                "MidstreamPlatform",
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "MidstreamTool",
            dependencies: ["Midstream", "MidstreamSigning", "MidstreamTelemetry", "MidstreamTesting", "MidstreamWebSocket"]
                + transports,
            swiftSettings: settings),
        .executableTarget(
            name: "Demo", dependencies: ["Midstream", "MidstreamTesting"], path: "Examples/Demo", swiftSettings: settings),
        .target(
            name: "TestSupport",
            dependencies: [
                "MidstreamTransport", "MidstreamCore", "MidstreamTesting", "MidstreamURLSession", "Interception",
                "LoopbackServer", curl, wire,
            ],
            path: "Tests/TestSupport", swiftSettings: settings),
        .testTarget(
            name: "InterceptionTests", dependencies: ["Interception", "MidstreamTesting", "TestSupport"], swiftSettings: settings),
        .testTarget(
            name: "MidstreamCoreTests",
            dependencies: [
                "Midstream", "MidstreamAuthentication", "MidstreamTasks", "MidstreamCore", "MidstreamTesting", "Interception",
                "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "MidstreamAuthenticationTests",
            dependencies: [
                "Midstream", "MidstreamAuthentication", "MidstreamCore", "MidstreamTesting", "Interception", "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "MidstreamCacheTests",
            dependencies: [
                "Midstream", "MidstreamCache", "MidstreamCacheStore", "MidstreamCore", "MidstreamTesting", "Interception",
                "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "MidstreamCookiesTests",
            dependencies: ["Midstream", "MidstreamCookies", "MidstreamCore", "MidstreamTesting", "Interception", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "MidstreamObservabilityTests",
            dependencies: ["Midstream", "MidstreamObservability", "MidstreamCore", "MidstreamTesting", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "MidstreamResilienceTests",
            dependencies: ["MidstreamResilience", "MidstreamCore", "MidstreamTesting", "Interception", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "MidstreamTransportSecurityTests",
            dependencies: [
                "Midstream", "MidstreamTransportSecurity", "MidstreamCore", "MidstreamTesting", "Interception", "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "MidstreamNetworkStatusTests",
            dependencies: [
                "Midstream", "MidstreamNetworkStatus", "MidstreamCore", "MidstreamTesting", "Interception", "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "MidstreamTemplatesTests",
            dependencies: ["TestSupport", "Midstream", "MidstreamTemplates", "MidstreamTesting"],
            swiftSettings: settings),
        .testTarget(
            name: "MidstreamStreamsTests",
            dependencies: ["Midstream", "MidstreamStreams", "MidstreamCore", "MidstreamTesting", "Interception", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "MidstreamCompressionTests",
            dependencies: [
                "Midstream", "MidstreamCompression", "MidstreamCore", "MidstreamTesting", "Interception", "TestSupport",
                curl,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "MidstreamTransfersTests",
            dependencies: [
                "Midstream", "MidstreamTransfers", "MidstreamSigning", "MidstreamCore", "MidstreamTesting", "Interception",
                "TestSupport",
                .target(name: "LibraryInterposition", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "MidstreamTasksTests",
            dependencies: ["Midstream", "MidstreamTasks", "MidstreamCore", "MidstreamTesting", "Interception", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "MidstreamSigningTests",
            dependencies: ["Midstream", "MidstreamSigning", "MidstreamCore", "MidstreamTesting", "Interception", "TestSupport"],
            exclude: ["generate-vectors.py"], resources: [.copy("vectors.json")], swiftSettings: settings),
        .testTarget(
            name: "MidstreamDiskCacheTests",
            dependencies: [
                "Midstream", "MidstreamDiskCache", "MidstreamCache", "MidstreamCacheStore", "MidstreamCore", "MidstreamTesting",
                "Interception",
                "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "MidstreamFleetTests",
            dependencies: [
                "MidstreamFleet", "Midstream", "MidstreamAuthentication", "MidstreamCache", "MidstreamResilience",
                "MidstreamTransport", "MidstreamCacheStore", "MidstreamCore",
                "MidstreamTesting", "Interception", "TestSupport", wire,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "MidstreamTelemetryTests",
            dependencies: [
                "Midstream", "MidstreamTelemetry", "MidstreamCore", "MidstreamTesting", "Interception", "TestSupport", curl,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "MidstreamTests",
            dependencies: [
                "Midstream", "MidstreamCore", "MidstreamSigning", "MidstreamTesting", "Interception", "TestSupport", curl,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "SoakTests",
            dependencies: ["Midstream", "MidstreamURLSession", "MidstreamCore", "MidstreamTesting", "Interception", curl, wire],
            swiftSettings: settings),
        .testTarget(
            name: "MidstreamTestingTests",
            dependencies: [
                "MidstreamTesting", "LoopbackServer", "MidstreamCache", "MidstreamCacheStore", "MidstreamCore", "Interception",
                "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "MidstreamToolTests", dependencies: ["TestSupport", "MidstreamTool", "Midstream", "MidstreamTesting"],
            swiftSettings: settings),
        .testTarget(name: "DemoTests", dependencies: ["Demo", "MidstreamTesting"], swiftSettings: settings),
        .testTarget(
            name: "MidstreamURLSessionTests",
            dependencies: [
                "MidstreamURLSession", "MidstreamWebSocket", "MidstreamTransport", "MidstreamCore", "Interception", "TestSupport",
                "LoopbackServer",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ForeignTextTests",
            dependencies: [
                "Midstream", "MidstreamFleet", "MidstreamLoop", "MidstreamSigning", "MidstreamTesting", "MidstreamURLSession",
                "MidstreamWebSocket", "WebSocketFrames", "TestSupport", curl, wire,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "MidstreamLoopTests",
            dependencies: ["MidstreamLoop", "MidstreamTransport", "MidstreamCore", "Interception", "TestSupport"],
            swiftSettings: settings),
        .target(name: "LibraryInterposition", path: "Tests/LibraryInterposition"),
        .testTarget(
            name: "MidstreamCurlTests",
            dependencies: [
                "MidstreamTransport", "MidstreamCore", "Interception", "MidstreamLoop", "TestSupport",
                .target(name: "LibraryInterposition", condition: .when(platforms: [.linux])),
                curl,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "MidstreamWireTests",
            dependencies: [
                "MidstreamTransport", "MidstreamCore", "Interception", "MidstreamLoop", "TestSupport", "MidstreamTesting",
                .target(name: "LibraryInterposition", condition: .when(platforms: [.linux])),
                wire,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "MidstreamWebSocketTests",
            dependencies: [
                "MidstreamWebSocket", "WebSocketFrames", "Midstream", "MidstreamResilience", "MidstreamTransport",
                "MidstreamCore", "MidstreamTesting",
                "Interception", "TestSupport", curl, wire,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "DocumentationTests",
            dependencies: [
                "Midstream", "MidstreamDiskCache", "MidstreamNetworkStatus", "MidstreamSigning", "MidstreamTelemetry",
                "MidstreamTesting", "MidstreamTool", "MidstreamTransportSecurity", "MidstreamURLSession", "MidstreamWebSocket",
                curl, wire,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "TransportConformanceTests",
            dependencies: [
                "TestSupport", "Midstream", "MidstreamTransport", "MidstreamCore", "MidstreamTesting", "MidstreamURLSession",
                "MidstreamLoop",
                "Interception",
                .target(name: "LibraryInterposition", condition: .when(platforms: [.linux])),
                curl, wire,
            ],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)

// A comma-separated list of test targets leaves out the others, so that less is built.
if let kept = Context.environment["MIDSTREAM_TEST_TARGETS"]?.split(separator: ",").map(String.init) {
    package.targets.removeAll { $0.type == .test && !kept.contains($0.name) }
}
