// swift-tools-version: 6.2
import PackageDescription

/// The parsers of what others send, by name, for the fuzzer and for the benchmark of their worst inputs. A package of its own, since
/// it sees the insides of the library and has to be built with `-enable-testing`.
let package = Package(
    name: "Fuzz",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "ForeignText", targets: ["ForeignText"]),
        .executable(name: "parser-fuzzer", targets: ["Fuzzer"]),
        .executable(name: "wire-fuzzer", targets: ["WireFuzzer"]),
    ],
    dependencies: [.package(name: "Midstream", path: "../..")],
    targets: [
        .target(
            name: "ForeignText",
            dependencies: [
                .product(name: "Midstream", package: "Midstream"),
                .product(name: "MidstreamFleet", package: "Midstream"),
                .product(name: "MidstreamSigning", package: "Midstream"),
                .product(name: "MidstreamTesting", package: "Midstream"),
                .product(name: "MidstreamURLSession", package: "Midstream"),
                .product(name: "MidstreamWebSocket", package: "Midstream"),
                .product(name: "MidstreamCurl", package: "Midstream", condition: .when(platforms: [.linux])),
                .product(name: "MidstreamWire", package: "Midstream", condition: .when(platforms: [.linux])),
            ]),
        .systemLibrary(name: "LibFuzzer"),
        .target(name: "Fuzzing", dependencies: ["LibFuzzer"]),
        .executableTarget(name: "Fuzzer", dependencies: ["ForeignText", "Fuzzing"]),
        .executableTarget(
            name: "WireFuzzer",
            dependencies: [
                "Fuzzing", .product(name: "MidstreamWire", package: "Midstream", condition: .when(platforms: [.linux])),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
