// swift-tools-version: 6.2
import PackageDescription

// assemble.sh copies the sources of some targets to where they are built.

func libraries(_ names: [String]) -> [Target.Dependency] {
    names.map { .product(name: $0, package: "LoaderChain") }
}

let every = [
    "InfluxReporting", "LineProtocol", "LoaderChain", "LoaderChainCurl", "LoaderChainGzip", "LoaderChainTerminal",
    "LoaderChainTesting", "LoaderChainURLSession", "MetricKitReporting", "ReportOutbox",
]

// The modes that programs are written in.
let modes: [String: [SwiftSetting]] = [
    "SwiftFive": [.swiftLanguageMode(.v5)],
    "SwiftSix": [.swiftLanguageMode(.v6)],
    "MainActorByDefault": [
        .swiftLanguageMode(.v6), .defaultIsolation(MainActor.self),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"), .enableUpcomingFeature("InferIsolatedConformances"),
    ],
]

// What the guides need beside the core; the program that follows one is named after it.
let guides: [String: [String]] = [
    "WritingALoader": [],
    "Nodes": [],
    "Metrics": ["LoaderChainURLSession"],
    "Recipes": ["LoaderChainTerminal", "ReportOutbox"],
    "Security": ["LoaderChainURLSession", "ReportOutbox"],
    "ComingFrom": ["InfluxReporting", "LineProtocol", "ReportOutbox"],
    "Monitoring": ["InfluxReporting", "LineProtocol"],
    "MetricKit": ["LineProtocol", "MetricKitReporting", "ReportOutbox"],
    "README": ["LoaderChainTerminal"],
    "GettingStarted": ["LoaderChainTerminal"],
    "Errors": [],
    "Testing": ["LoaderChainTerminal"],
]

// The part of other packages that the bridges use, and which of these each of them needs.
let standIns: [String: [Target.Dependency]] = [
    "AsyncHTTPClient": ["NIOCore", "NIOHTTP1"], "BasicContainers": [], "HTTPClient": ["BasicContainers", "HTTPTypes"],
    "HTTPTypes": [], "Logging": [], "Metrics": [], "NIOCore": [], "NIOHTTP1": [], "NIOPosix": [],
    "OpenAPIRuntime": ["HTTPTypes"], "Tracing": [],
]

var targets: [Target] = [
    .executableTarget(name: "Small", dependencies: libraries(["LoaderChain"])),
    .executableTarget(name: "Curl", dependencies: libraries(["LoaderChain", "LoaderChainCurl", "LoaderChainTesting"])),
    .target(name: "Steps", dependencies: libraries(["LoaderChain"])),
    // The samples that are tests, with whatever their guide declares.
    .testTarget(
        name: "GuideTests",
        dependencies: libraries([
            "LoaderChain", "LoaderChainTerminal", "LoaderChainTesting", "LoaderChainURLSession", "ReportOutbox",
        ])),
]
for (guide, others) in guides {
    targets.append(
        .executableTarget(
            name: guide + "Guide",
            dependencies: ["Steps"] + libraries(["LoaderChain", "LoaderChainTesting"] + others)))
}
for (name, others) in standIns {
    targets.append(
        .target(
            name: name, dependencies: others, path: "StandIns/\(name)",
            swiftSettings: [.enableExperimentalFeature("Lifetimes")]))
}
for (mode, settings) in modes {
    targets.append(
        .target(
            name: mode + "Bridges",
            dependencies: libraries(["LoaderChain", "LoaderChainTesting"])
                + standIns.keys.map { .target(name: $0) },
            swiftSettings: settings))
    // The article is from before a module could belong to the main actor.
    let programs = mode == "MainActorByDefault" ? ["Program"] : ["Article", "Program"]
    // These use the core alone: on Linux, URLSession's static library needs more of curl than a machine that builds Swift has.
    for program in programs {
        targets.append(
            .executableTarget(
                name: mode + program, dependencies: libraries(["LoaderChain"]), swiftSettings: settings))
    }
    // A test target, because samples of tests import Testing.
    targets.append(
        .testTarget(name: mode + "Samples", dependencies: libraries(every), swiftSettings: settings))
}

let package = Package(
    name: "Outside",
    platforms: [.iOS(.v18), .macOS(.v15)],
    dependencies: [.package(name: "LoaderChain", path: "../..")],
    targets: targets,
    swiftLanguageModes: [.v6]
)
