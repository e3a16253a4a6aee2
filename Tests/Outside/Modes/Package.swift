// swift-tools-version: 6.2
import PackageDescription

let libraries = [
    "InfluxReporting", "LineProtocol", "LineProtocolFoundation", "LoaderChain", "LoaderChainURLSession",
    "LoaderChainTesting", "MetricKitReporting", "ReportOutbox",
]

// The modes that programs are written in. The samples of the guides are copied into a folder of each.
let modes: [String: [SwiftSetting]] = [
    "SwiftFive": [.swiftLanguageMode(.v5)],
    "SwiftSix": [.swiftLanguageMode(.v6)],
    "MainActorByDefault": [
        .swiftLanguageMode(.v6), .defaultIsolation(MainActor.self),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"), .enableUpcomingFeature("InferIsolatedConformances"),
    ],
]

let package = Package(
    name: "Modes",
    platforms: [.iOS(.v18), .macOS(.v15)],
    dependencies: [.package(name: "LoaderChain", path: "../../..")],
    targets: modes.flatMap { mode, settings -> [Target] in
        [
            // A test target, because samples of tests import Testing.
            .testTarget(
                name: mode + "Samples", dependencies: libraries.map { .product(name: $0, package: "LoaderChain") },
                path: "Sources/\(mode)Samples", swiftSettings: settings),
            .executableTarget(
                name: mode,
                // Without URLSession, whose static library on Linux needs more of curl than a machine that builds Swift has.
                dependencies: [.product(name: "LoaderChain", package: "LoaderChain")],
                path: "Sources/\(mode)", swiftSettings: settings),
        ]
    }
)
