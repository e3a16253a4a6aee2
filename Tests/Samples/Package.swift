// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "Samples",
    platforms: [.iOS(.v18), .macOS(.v15)],
    dependencies: [.package(name: "LoaderChain", path: "../..")],
    targets: [
        // A test target, because samples of tests import Testing.
        .testTarget(
            name: "Samples",
            dependencies: [
                .product(name: "InfluxReporting", package: "LoaderChain"),
                .product(name: "LineProtocol", package: "LoaderChain"),
                .product(name: "LineProtocolFoundation", package: "LoaderChain"),
                .product(name: "LoaderChain", package: "LoaderChain"),
                .product(name: "LoaderChainURLSession", package: "LoaderChain"),
                .product(name: "LoaderChainTesting", package: "LoaderChain"),
                .product(name: "MetricKitReporting", package: "LoaderChain"),
                .product(name: "ReportOutbox", package: "LoaderChain"),
            ],
            path: "Sources/Samples")
    ],
    swiftLanguageModes: [.v6]
)
