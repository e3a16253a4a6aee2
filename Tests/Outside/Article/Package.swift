// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "Article",
    platforms: [.iOS(.v18), .macOS(.v15)],
    dependencies: [.package(name: "LoaderChain", path: "../../..")],
    targets: [
        .executableTarget(
            name: "SwiftFive", dependencies: [.product(name: "LoaderChain", package: "LoaderChain")],
            swiftSettings: [.swiftLanguageMode(.v5)]),
        .executableTarget(
            name: "SwiftSix", dependencies: [.product(name: "LoaderChain", package: "LoaderChain")],
            swiftSettings: [.swiftLanguageMode(.v6)]),
    ]
)
