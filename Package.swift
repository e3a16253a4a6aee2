// swift-tools-version: 6.2
import PackageDescription

let applePlatforms: [Platform] = [.iOS, .macOS, .macCatalyst, .tvOS, .watchOS, .visionOS]

let package = Package(
    name: "LoaderChain",
    platforms: [.iOS(.v18), .macOS(.v15), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "LoaderChain", targets: ["LoaderChain"]),
        .library(name: "LoaderChainURLSession", targets: ["LoaderChainURLSession"]),
        .library(name: "LoaderChainCurl", targets: ["LoaderChainCurl"]),
        .library(name: "LoaderChainTerminal", targets: ["LoaderChainTerminal"]),
        .library(name: "LoaderChainTesting", targets: ["LoaderChainTesting"]),
        .library(name: "LineProtocol", targets: ["LineProtocol"]),
        .library(name: "LoaderChainGzip", targets: ["LoaderChainGzip"]),
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
        // What every system has under another name: the C library with its sockets, and the part of Foundation that is enough.
        .target(name: "LoaderChainPlatformC"),
        .target(name: "LoaderChainPlatformFoundation"),
        .target(name: "LoaderChainURLSession", dependencies: ["LoaderChain", "DurableFiles"]),
        // libcurl is loaded when the program runs, so that no development files are needed.
        .target(name: "CLoaderChainCurl"),
        .target(
            name: "LoaderChainCurl",
            dependencies: [
                "LoaderChain", "CLoaderChainCurl", "LoaderChainGzip", "CLoaderChainZlib", "LoaderChainPlatformC",
                "LoaderChainPlatformFoundation",
            ]),
        // The terminal of each system, so that a program links nothing of the other's.
        .target(
            name: "LoaderChainTerminal",
            dependencies: [
                .target(name: "LoaderChainCurl", condition: .when(platforms: [.linux])),
                .target(name: "LoaderChainURLSession", condition: .when(platforms: applePlatforms)),
            ]),
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

        // zlib is loaded when the program runs, so that no development files are needed; on Apple systems it is linked.
        .target(
            name: "CLoaderChainZlib",
            linkerSettings: [
                .linkedLibrary("z", .when(platforms: applePlatforms))
            ]),
        // A target of its own, so that a program that compresses nothing does without zlib.
        .target(
            name: "LoaderChainGzip", dependencies: ["LoaderChain", "CLoaderChainZlib", "LoaderChainPlatformFoundation"]),
        .target(
            name: "InfluxReporting",
            dependencies: [
                "LoaderChain", "LineProtocol", "DurableFiles", "LoaderChainGzip", "LoaderChainPlatformC",
                "LoaderChainPlatformFoundation",
            ]),

        // The program is thin, so that tests reach its parts. Their names differ in more than case, as the folders must.
        .executableTarget(name: "apihealth", dependencies: ["APIHealthKit", "LoaderChainPlatformC"]),
        .target(
            name: "APIHealthKit",
            dependencies: [
                "LoaderChain", "LoaderChainTerminal", "LineProtocol", "ReportOutbox", "InfluxReporting",
                "MetricKitReporting", "DurableFiles", "LoaderChainGzip", "LoaderChainPlatformC",
            ]),

        .target(name: "AllocationCounter", path: "Benchmarks/AllocationCounter"),
        .target(
            name: "BenchmarkSupport",
            dependencies: [
                "LoaderChain", "LoaderChainTesting", "LoaderChainPlatformC", "LoaderChainPlatformFoundation",
            ],
            path: "Benchmarks/BenchmarkSupport"),
        // A bare loop over libcurl.
        .target(name: "CurlPeer", dependencies: ["CLoaderChainCurl"], path: "Benchmarks/CurlPeer"),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "LoaderChain", "LoaderChainURLSession", "LoaderChainCurl", "LoaderChainTesting", "LineProtocol",
                "ReportOutbox", "InfluxReporting", "LoaderChainGzip", "MetricKitReporting", "AllocationCounter",
                "BenchmarkSupport", "CurlPeer", "TestServers", "LoaderChainPlatformC", "LoaderChainPlatformFoundation",
            ],
            path: "Benchmarks/Benchmarks"),

        .testTarget(
            name: "LoaderChainTests",
            dependencies: [
                "LoaderChain", "LoaderChainTesting", "BenchmarkSupport", "DurableFilesTesting", "TestProcesses",
                "TestSizes", "LoaderChainPlatformC", "LoaderChainPlatformFoundation",
            ]),
        .testTarget(
            name: "LoaderChainTransferTests",
            dependencies: [
                "LoaderChain", "LoaderChainTesting", "DurableFiles", "DurableFilesTesting", "TestSizes",
                "LoaderChainPlatformC",
            ]),
        // For faults that only show with many threads and in release builds; see Tests/check.sh.
        .executableTarget(name: "Stress", dependencies: ["LoaderChain", "LoaderChainTesting"], path: "Tests/Stress"),
        // Both terminals, with the same tests where they are alike.
        .testTarget(
            name: "TerminalTests",
            dependencies: [
                "LoaderChain", "LoaderChainURLSession", "LoaderChainCurl", "LoaderChainTesting", "DurableFilesTesting",
                "TerminalFaults", "TerminalMatrix", "TestProcesses", "TestServers", "TestSizes",
            ]),
        // For code that could crash, which runs in a process of its own.
        .executableTarget(
            name: "TerminalFaults",
            dependencies: [
                "LoaderChain", "LoaderChainURLSession", "LoaderChainCurl", "LoaderChainTesting", "TerminalStorms",
                "TestSizes",
            ],
            path: "Tests/TerminalFaults"),
        // Damaged responses and cancels at random moments, for every terminal.
        .target(
            name: "TerminalStorms", dependencies: ["LoaderChain", "LoaderChainTesting", "TestServers"],
            path: "Tests/TerminalStorms"),
        .testTarget(
            name: "LoaderChainTestingTests",
            dependencies: [
                "LoaderChain", "LoaderChainTesting", "LoaderChainPlatformC", "LoaderChainPlatformFoundation",
                "TestProcesses", "TestSizes",
            ]),
        .testTarget(
            name: "LineProtocolTests",
            dependencies: ["LineProtocol", "LoaderChain", "TestSizes", "LoaderChainPlatformFoundation"]),
        // A directory in memory that fails whenever a test says so.
        .target(
            name: "DurableFilesTesting",
            dependencies: ["DurableFiles", "LoaderChain", "LoaderChainPlatformC", "LoaderChainPlatformFoundation"],
            path: "Tests/DurableFilesTesting"),
        .testTarget(
            name: "DurableFilesTests",
            dependencies: [
                "DurableFiles", "DurableFilesTesting", "LoaderChain", "LoaderChainPlatformC",
                "LoaderChainPlatformFoundation",
            ]),
        .executableTarget(
            name: "OutboxChild",
            dependencies: [
                "LoaderChain", "ReportOutbox", "InfluxReporting", "LineProtocol", "LoaderChainPlatformC",
                "LoaderChainPlatformFoundation",
            ],
            path: "Tests/OutboxChild"),
        .testTarget(
            name: "ReportOutboxTests",
            dependencies: [
                "LoaderChain", "LoaderChainTesting", "LoaderChainURLSession", "ReportOutbox", "DurableFiles",
                "DurableFilesTesting", "OutboxChild", "TestProcesses", "TestSizes", "LoaderChainPlatformC",
                "LoaderChainPlatformFoundation",
            ]),
        .testTarget(
            name: "LoaderChainGzipTests",
            dependencies: [
                "LoaderChain", "LoaderChainGzip", "LoaderChainTesting", "DurableFilesTesting", "ReportOutbox",
                "TestGunzip",
            ]),
        // The way back, for what was compressed.
        .target(
            name: "TestGunzip", dependencies: ["CLoaderChainZlib", "LoaderChainGzip"], path: "Tests/TestGunzip"),
        .testTarget(
            name: "InfluxReportingTests",
            dependencies: [
                "InfluxReporting", "LoaderChain", "LoaderChainTerminal", "LoaderChainURLSession", "LoaderChainTesting",
                "LineProtocol", "DurableFiles", "DurableFilesTesting", "OutboxChild", "TestGunzip", "TestProcesses",
                "TestSizes", "LoaderChainPlatformC", "LoaderChainPlatformFoundation",
            ]),
        .testTarget(
            name: "APIHealthTests",
            dependencies: [
                "APIHealthKit", "apihealth", "LoaderChain", "LoaderChainTesting", "LineProtocol", "ReportOutbox",
                "InfluxReporting", "TestProcesses", "LoaderChainPlatformC",
            ]),
        // How often tests repeat what they do, and how long they wait for an event.
        .target(name: "TestSizes", dependencies: ["LoaderChainPlatformFoundation"], path: "Tests/TestSizes"),
        // Programs that run beside the tests.
        .target(
            name: "TestProcesses", dependencies: ["LoaderChain", "DurableFiles", "LoaderChainPlatformC"],
            path: "Tests/TestProcesses"),
        // Servers that run beside the tests: raw connections, TLS of openssl, nginx.
        .target(
            name: "TestServers",
            dependencies: [
                "LoaderChain", "LoaderChainTesting", "DurableFilesTesting", "LoaderChainPlatformC", "TestProcesses",
            ],
            path: "Tests/TestServers"),
        // What every terminal is told by the same servers, and what each makes of it.
        .target(
            name: "TerminalMatrix",
            dependencies: ["LoaderChain", "LoaderChainTesting", "LoaderChainPlatformFoundation", "TestServers"],
            path: "Tests/TerminalMatrix"),
        // Damaged payloads are not only read here, but also drawn as the program draws them.
        .testTarget(
            name: "MetricKitReportingTests",
            dependencies: [
                "APIHealthKit", "LineProtocol", "LoaderChain", "MetricKitReporting", "ReportOutbox", "TestSizes",
                "DurableFilesTesting", "LoaderChainPlatformFoundation",
            ]),
        .testTarget(
            name: "BenchmarkSupportTests",
            dependencies: ["LoaderChain", "BenchmarkSupport", "LoaderChainPlatformFoundation"]),
    ],
    swiftLanguageModes: [.v6]
)

// Tests of a release build are there for what the optimizer makes of the sources. Optimizing the tests too takes most of the time
// of such a build, and shows nothing more.
for target in package.targets where target.type == .test {
    target.swiftSettings = [.unsafeFlags(["-Onone"], .when(configuration: .release))]
}
