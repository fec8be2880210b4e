// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "curl-baseline", targets: ["CurlBaseline"]),
        .executable(name: "start-baseline", targets: ["StartBaseline"]),
        .executable(name: "midstream-bench", targets: ["MidstreamBench"]),
        .executable(name: "parser-bench", targets: ["ParserBench"]),
        .executable(name: "bomb-bench", targets: ["BombBench"]),
        .executable(name: "stream-bench", targets: ["StreamBench"]),
        .executable(name: "cache-bench", targets: ["CacheBench"]),
        .executable(name: "resilience-bench", targets: ["ResilienceBench"]),
        .executable(name: "fleet-bench", targets: ["FleetBench"]),
        .executable(name: "socket-bench", targets: ["SocketBench"]),
        .executable(name: "socket-baseline", targets: ["SocketBaseline"]),
        .executable(name: "socket-echo", targets: ["SocketEcho"]),
        .executable(name: "table-bench", targets: ["TableBench"]),
        .executable(name: "telemetry-bench", targets: ["TelemetryBench"]),
        .executable(name: "transfer-bench", targets: ["TransferBench"]),
        .library(name: "MallocCount", type: .dynamic, targets: ["MallocCount"]),
    ],
    dependencies: [.package(name: "Midstream", path: ".."), .package(name: "Fuzz", path: "../Tests/Fuzz")],
    targets: [
        // The same requests by libcurl's own API, which everything is compared with.
        .executableTarget(
            // Debian's valgrind can't read later formats of C's debug information.
            name: "CurlBaseline", cSettings: [.define("_GNU_SOURCE"), .unsafeFlags(["-gdwarf-4"])],
            linkerSettings: [.linkedLibrary("curl")]),
        // What midst's start is compared with.
        .executableTarget(name: "StartBaseline", linkerSettings: [.linkedLibrary("curl")]),
        // Preloaded into a contestant it counts the allocations.
        .target(name: "MallocCount"),
        // What a process uses up, and how a benchmark begins and ends.
        .target(name: "Measuring"),
        .executableTarget(
            name: "MidstreamBench",
            dependencies: [
                "Measuring", .product(name: "Midstream", package: "Midstream"),
                .product(name: "MidstreamCurl", package: "Midstream"),
                .product(name: "MidstreamWire", package: "Midstream"),
                .product(name: "MidstreamURLSession", package: "Midstream"),
            ],
            swiftSettings: settings),
        // What others notice of a body that grows by decoding.
        .executableTarget(
            name: "BombBench",
            dependencies: [
                "Measuring", .product(name: "Midstream", package: "Midstream"),
                .product(name: "MidstreamCurl", package: "Midstream"),
            ]),
        // How fast bodies are read in lines, events and parts, and hashed.
        .executableTarget(
            name: "StreamBench",
            dependencies: [
                "Measuring", .product(name: "Midstream", package: "Midstream"),
                .product(name: "MidstreamSigning", package: "Midstream"),
            ],
            swiftSettings: settings),
        // What a hit costs, and what a miss costs beyond the request.
        .executableTarget(
            name: "CacheBench",
            dependencies: [
                "Measuring", .product(name: "Midstream", package: "Midstream"),
                .product(name: "MidstreamDiskCache", package: "Midstream"),
            ]),
        // What limits and breakers cost, and what they do in simulated outages.
        .executableTarget(
            name: "ResilienceBench",
            dependencies: [
                "Measuring", .product(name: "Midstream", package: "Midstream"),
                .product(name: "MidstreamTesting", package: "Midstream"),
            ]),
        // What a decision costs over Redis.
        .executableTarget(
            name: "FleetBench",
            dependencies: [
                "Measuring", .product(name: "Midstream", package: "Midstream"),
                .product(name: "MidstreamFleet", package: "Midstream"),
            ],
            swiftSettings: settings),
        // Messages over sockets, and what idle ones take.
        .executableTarget(
            name: "SocketBench",
            dependencies: [
                "Measuring", .product(name: "Midstream", package: "Midstream"),
                .product(name: "MidstreamWebSocket", package: "Midstream"),
                .product(name: "MidstreamWire", package: "Midstream"),
            ],
            swiftSettings: settings),
        // The same by libcurl's own sockets.
        .executableTarget(
            name: "SocketBaseline", cSettings: [.define("_GNU_SOURCE"), .unsafeFlags(["-gdwarf-4"])],
            linkerSettings: [.linkedLibrary("curl")]),
        // The other side of both.
        .executableTarget(
            name: "SocketEcho", cSettings: [.define("_GNU_SOURCE")],
            linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
        // What an operation costs when a table has seen many times the keys that it has room for.
        .executableTarget(
            name: "TableBench",
            dependencies: [
                "Measuring", .product(name: "Midstream", package: "Midstream"),
                .product(name: "MidstreamDiskCache", package: "Midstream"),
                .product(name: "MidstreamSigning", package: "Midstream"),
            ]),
        // What observers of calls cost.
        .executableTarget(
            name: "TelemetryBench",
            dependencies: [
                "Measuring", .product(name: "Midstream", package: "Midstream"),
                .product(name: "MidstreamTelemetry", package: "Midstream"),
            ]),
        // How fast files are downloaded.
        .executableTarget(
            name: "TransferBench",
            dependencies: [
                "Measuring", .product(name: "Midstream", package: "Midstream"),
                .product(name: "MidstreamTesting", package: "Midstream"),
            ]),
        // What the parsers of foreign text cost at worst. Needs -enable-testing, since they are internal.
        .executableTarget(name: "ParserBench", dependencies: [.product(name: "ForeignText", package: "Fuzz")]),
    ],
    swiftLanguageModes: [.v6]
)
