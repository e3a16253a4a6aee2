// swift-tools-version: 6.0
import PackageDescription

// What the guides need; the program that follows one is named after it.
let guides: [String: [String]] = [
    "WritingALoader": [],
    "Nodes": [],
    "Metrics": [],
    "Recipes": ["LoaderChainURLSession", "ReportOutbox"],
    "Security": ["LoaderChainURLSession", "ReportOutbox"],
    "ComingFromAlamofire": ["LoaderChainURLSession"],
    "ComingFromHTTPInSwift": ["LoaderChainURLSession"],
    "ComingFromWells": ["ReportOutbox"],
    "ComingFromInfluxClients": ["InfluxReporting", "LineProtocol", "LineProtocolFoundation"],
    "InfluxServers": ["InfluxReporting", "LineProtocol"],
    "MetricKit": ["LineProtocol", "MetricKitReporting", "ReportOutbox"],
    "README": ["InfluxReporting", "LoaderChainURLSession"],
]

let package = Package(
    name: "Stranger",
    platforms: [.iOS(.v18), .macOS(.v15)],
    dependencies: [.package(name: "LoaderChain", path: "../../..")],
    targets: [
        .target(name: "Steps", dependencies: [.product(name: "LoaderChain", package: "LoaderChain")]),
        // The samples that are tests, with whatever their guide declares.
        .testTarget(
            name: "GuideTests",
            dependencies: ["LoaderChain", "LoaderChainTesting", "LoaderChainURLSession", "ReportOutbox"].map {
                .product(name: $0, package: "LoaderChain")
            }),
    ]
        + guides.map { guide, modules in
            .executableTarget(
                name: guide + "Guide",
                dependencies: ["Steps"]
                    + (["LoaderChain", "LoaderChainTesting"] + modules).map {
                        .product(name: $0, package: "LoaderChain")
                    })
        },
    swiftLanguageModes: [.v6]
)
