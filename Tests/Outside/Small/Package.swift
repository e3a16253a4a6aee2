// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "Small",
    platforms: [.iOS(.v18), .macOS(.v15)],
    dependencies: [.package(name: "LoaderChain", path: "../../..")],
    targets: [
        .executableTarget(name: "small", dependencies: [.product(name: "LoaderChain", package: "LoaderChain")])
    ],
    swiftLanguageModes: [.v6]
)
