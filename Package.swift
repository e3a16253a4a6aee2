// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "LoaderChain",
    platforms: [.iOS(.v18), .macOS(.v15), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "LoaderChain", targets: ["LoaderChain"]),
        .library(name: "LoaderChainURLSession", targets: ["LoaderChainURLSession"]),
        .library(name: "LoaderChainTesting", targets: ["LoaderChainTesting"]),
        .library(name: "LineProtocol", targets: ["LineProtocol"]),
        .library(name: "LineProtocolFoundation", targets: ["LineProtocolFoundation"]),
        .library(name: "ReportOutbox", targets: ["ReportOutbox"]),
        .library(name: "InfluxReporting", targets: ["InfluxReporting"]),
        .library(name: "MetricKitReporting", targets: ["MetricKitReporting"]),
    ],
    targets: [
        .target(
            name: "LoaderChain",
            dependencies: ["CLockFence", "DurableFiles", "LoaderChainPlatformC", "LoaderChainPlatformFoundation"]),
        // Files, directories and locks, for everything that is kept on a disk.
        .target(name: "DurableFiles", dependencies: ["LoaderChainPlatformC", "LoaderChainPlatformFoundation"]),
        // One empty function, which keeps reference counts on their side of an unlock.
        .target(name: "CLockFence"),
        // What every system has under another name: the C library, and the part of Foundation that is enough.
        .target(name: "LoaderChainPlatformC"),
        .target(name: "LoaderChainPlatformFoundation"),
        .target(name: "LoaderChainURLSession", dependencies: ["LoaderChain", "DurableFiles"]),
        .target(
            name: "LoaderChainTesting",
            dependencies: ["LoaderChain", "DurableFiles", "LoaderChainPlatformC", "LoaderChainPlatformFoundation"]),
        .target(
            name: "ReportOutbox",
            dependencies: ["LoaderChain", "DurableFiles", "LoaderChainPlatformC", "LoaderChainPlatformFoundation"]),
        .target(
            name: "MetricKitReporting",
            dependencies: ["LoaderChain", "LineProtocol", "ReportOutbox", "LoaderChainPlatformFoundation"]),

        .target(name: "LineProtocol"),
        .target(name: "LineProtocolFoundation", dependencies: ["LineProtocol", "LoaderChainPlatformFoundation"]),

        // A library that Swift itself is linked against on every system; the Debian package is zlib1g-dev.
        .systemLibrary(name: "CZlib"),
        .target(
            name: "InfluxReporting",
            dependencies: [
                "LoaderChain", "LineProtocol", "LineProtocolFoundation", "DurableFiles", "CZlib",
                "LoaderChainPlatformC", "LoaderChainPlatformFoundation",
            ]),

        // The program is thin, so that tests reach its parts. Their names differ in more than case, as the folders must.
        .executableTarget(name: "apihealth", dependencies: ["APIHealthKit", "LoaderChainPlatformC"]),
        .target(
            name: "APIHealthKit",
            dependencies: [
                "LoaderChain", "LoaderChainURLSession", "LoaderChainTesting", "LineProtocol", "LineProtocolFoundation",
                "ReportOutbox", "InfluxReporting", "MetricKitReporting", "DurableFiles", "LoaderChainPlatformC",
            ]),

        .target(name: "AllocationCounter", path: "Benchmarks/AllocationCounter"),
        .target(
            name: "BenchmarkSupport", dependencies: ["LoaderChain", "LoaderChainTesting"],
            path: "Benchmarks/BenchmarkSupport"),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "LoaderChain", "LoaderChainURLSession", "LoaderChainTesting", "LineProtocol", "ReportOutbox",
                "InfluxReporting", "MetricKitReporting", "AllocationCounter", "BenchmarkSupport",
            ],
            path: "Benchmarks/Benchmarks"),

        .testTarget(
            name: "LoaderChainTests",
            dependencies: ["LoaderChain", "LoaderChainTesting", "BenchmarkSupport", "TestProcesses", "TestSizes"]),
        // For faults that only show with many threads and in release builds; see Tests/check.sh.
        .executableTarget(name: "Stress", dependencies: ["LoaderChain", "LoaderChainTesting"], path: "Tests/Stress"),
        .testTarget(
            name: "LoaderChainURLSessionTests",
            dependencies: [
                "LoaderChain", "LoaderChainURLSession", "LoaderChainTesting", "URLSessionFaults", "TestProcesses",
                "TestSizes",
            ]),
        // For code that could crash, which runs in a process of its own.
        .executableTarget(
            name: "URLSessionFaults", dependencies: ["LoaderChain", "LoaderChainURLSession", "LoaderChainTesting"],
            path: "Tests/URLSessionFaults"),
        .testTarget(
            name: "LoaderChainTestingTests",
            dependencies: ["LoaderChain", "LoaderChainTesting", "LoaderChainPlatformC"]),
        .testTarget(
            name: "LineProtocolTests",
            dependencies: ["LineProtocol", "LineProtocolFoundation", "LoaderChain", "TestSizes"]),
        // A directory in memory that fails whenever a test says so.
        .target(
            name: "DurableFilesTesting", dependencies: ["DurableFiles", "LoaderChain"],
            path: "Tests/DurableFilesTesting"),
        .testTarget(
            name: "DurableFilesTests", dependencies: ["DurableFiles", "DurableFilesTesting", "LoaderChain"]),
        .executableTarget(
            name: "OutboxChild", dependencies: ["LoaderChain", "ReportOutbox", "InfluxReporting", "LineProtocol"],
            path: "Tests/OutboxChild"),
        .testTarget(
            name: "ReportOutboxTests",
            dependencies: [
                "LoaderChain", "LoaderChainTesting", "ReportOutbox", "DurableFiles", "DurableFilesTesting",
                "OutboxChild", "TestProcesses", "TestSizes",
            ]),
        .testTarget(
            name: "InfluxReportingTests",
            dependencies: [
                "InfluxReporting", "LoaderChain", "LoaderChainURLSession", "LoaderChainTesting", "LineProtocol",
                "CZlib", "DurableFiles", "DurableFilesTesting", "OutboxChild", "TestProcesses",
                "TestSizes",
            ]),
        .testTarget(
            name: "APIHealthTests",
            dependencies: [
                "APIHealthKit", "apihealth", "LoaderChain", "LoaderChainTesting", "LineProtocol", "ReportOutbox",
                "InfluxReporting", "TestProcesses",
            ]),
        // How often tests repeat what they do.
        .target(name: "TestSizes", path: "Tests/TestSizes"),
        // Programs that run beside the tests.
        .target(name: "TestProcesses", dependencies: ["LoaderChain", "DurableFiles"], path: "Tests/TestProcesses"),
        .testTarget(
            name: "MetricKitReportingTests",
            dependencies: ["LineProtocol", "LoaderChain", "MetricKitReporting", "ReportOutbox", "TestSizes"]),
        .testTarget(name: "BenchmarkSupportTests", dependencies: ["LoaderChain", "BenchmarkSupport"]),
    ],
    swiftLanguageModes: [.v6]
)

// Tests of a release build are there for what the optimizer makes of the sources. Optimizing the tests too takes most of the time
// of such a build, and shows nothing more.
for target in package.targets where target.type == .test {
    target.swiftSettings = [.unsafeFlags(["-Onone"], .when(configuration: .release))]
}
