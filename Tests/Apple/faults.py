"""Faults that the check must find: each is planted in the copies only, and the affected targets are checked again."""
import dataclasses
import os
import re
import shutil

import consumers
import delegates
import names
import widths


@dataclasses.dataclass(frozen=True)
class Fault:
    """A change of one or more files, and the error that it must cause."""

    name: str
    changes: tuple
    """Each is a file, the text to replace, and its replacement, which is appended if there is no text to replace."""
    targets: tuple
    expected: str
    mode: str = ""
    """The mode of the app that shows the fault, if only an app does."""
    platforms: tuple = ("ios",)
    """Where it is planted; once is enough, unless the systems differ."""
    libraries: bool = False
    """Whether the check of names shows it."""
    delegates: bool = False
    """Whether the check of delegates shows it."""
    evolving: bool = False
    """Whether it is an error only with library evolution."""
    narrow: bool = False
    """Whether the check for 32-bit `Int` shows it."""


LOADER = "Sources/LoaderChain/Loader/HTTPLoader.swift"
TRUST = "Sources/LoaderChainURLSession/SessionTrust.swift"
DELEGATE = "Sources/LoaderChainURLSession/SessionTransport.swift"
UPLOADS = "Sources/ReportOutbox/Apple/BackgroundUploads.swift"

FAULTS = [
    Fault(
        "a cast in a pattern", ((TRUST, "case String(kSecAttrKeyTypeRSA)", "case kSecAttrKeyTypeRSA as String"),),
        ("LoaderChainURLSession",), "expression pattern of type"),
    Fault(
        "a delegate's method with another signature",
        ((DELEGATE, "didCompleteWithError error: (any Error)?", "didCompleteWithError error: any Error"),),
        ("LoaderChainURLSession",), "is no method of a delegate", delegates=True),
    Fault(
        "a part of the standard library that the deployment target lacks",
        ((LOADER, "", "\nfunc planted() -> InlineArray<2, Int> { [1, 2] }\n"),), ("LoaderChain",), "only available in"),
    Fault(
        "a method of a protocol that is there only on a later system",
        (("Sources/MetricKitReporting/Apple/MetricKitSubscriber.swift",
          "public func didReceive(_ payloads: [MXMetricPayload])",
          "@available(macOS 26, *) public func didReceive(_ payloads: [MXMetricPayload])"),),
        ("MetricKitReporting",), "requires 'didReceive", platforms=("macos",)),
    Fault(
        "a program started on a system that allows none",
        (("Tests/TestProcesses/ChildOutput.swift", "", "\nimport Foundation\nlet planted = Process()\n"),),
        ("TestProcesses",), "cannot find 'Process' in scope"),
    Fault(
        "a type with the name of one of Foundation's",
        (("Benchmarks/BenchmarkSupport/MeasuredHost.swift", "", "\npackage struct Host {}\n"),
         ("Tests/BenchmarkSupportTests/Fixtures.swift", "", "\nextension Host { static let planted = 1 }\n")),
        ("BenchmarkSupport", "BenchmarkSupportTests"), "'Host' is ambiguous", platforms=("macos",)),
    Fault(
        "a thread's handle taken for a number",
        (("Sources/LoaderChainTesting/SystemThread.swift", "UInt(bitPattern: pthread_self())", "UInt(pthread_self())"),),
        ("LoaderChainTesting",), "SystemThread.swift"),
    Fault(
        "a constant that only Linux has",
        (("Sources/LoaderChainTesting/SystemThread.swift", "", "\nlet planted = MSG_NOSIGNAL\n"),),
        ("LoaderChainTesting",), "cannot find 'MSG_NOSIGNAL'"),
    Fault(
        "a loader that an app of the main actor cannot subclass",
        ((LOADER, "nonisolated open class HTTPLoader", "open class HTTPLoader"),), ("LoaderChain",),
        "has different actor isolation", mode="main actor by default"),
    Fault(
        "a conformance of Swift 6 mode only",
        ((LOADER, "open class HTTPLoader: @unchecked Sendable", "open class HTTPLoader"),
         (LOADER, "", "\n@available(swift 6)\nextension HTTPLoader: @unchecked Sendable {}\n")),
        ("LoaderChain",), "is already unavailable", mode="Swift 5 mode"),
    Fault(
        "a handler of UIKit's that would have to be sendable",
        ((UPLOADS, "completionHandler: @escaping () -> Void)", "completionHandler: @escaping @Sendable () -> Void)"),),
        ("ReportOutbox",), "sending .completionHandler.|non-Sendable|non-sendable", mode="Swift 6 mode"),
    Fault(
        "a number that a watch cannot hold",
        (("Sources/MetricKitReporting/Payload/SectionReader.swift", "", "\nlet planted = 1 << 40\n"),
         ("Sources/MetricKitReporting/Payload/SectionReader.swift", "", "\nlet plantedToo = 5_000_000_000\n")),
        ("MetricKitReporting",), r"by 40 leaves nothing(.|\n)*5000000000 does not fit", platforms=("watchos",), narrow=True),
    Fault(
        "inlined code that a framework cannot promise",
        ((LOADER, "",
          "\npublic struct Planted {\n    @usableFromInline let value: Int\n"
          "    @inlinable public init(_ value: Int) { self.value = value }\n}\n"),), ("LoaderChain",),
        "may not be initialized directly", evolving=True),
    Fault(
        "one name in two libraries", ((DELEGATE, "", "\npublic enum ReportID {}\n"),), ("LoaderChainURLSession",),
        "ReportID is declared by", libraries=True),
    Fault(
        "a type that hides its library", (("Sources/LineProtocol/Model/Point.swift", "", "\npublic enum LineProtocol {}\n"),),
        ("LineProtocol",), "has a library's name", libraries=True),
]


def prove(platform, check, files, products):
    """Plants each fault and removes it again; prints the result, and returns whether all were found."""
    found = True
    for fault in (fault for fault in FAULTS if platform in fault.platforms):
        said = _plant(fault, check, files, products)
        hit = re.search(fault.expected, said) is not None
        print(f"{platform}: {'found' if hit else 'MISSED'}: {fault.name}")
        if not hit:
            print(said[-2000:])
        found &= hit
    return found


def _plant(fault, check, files, products):
    before = {}
    modules = check.output
    planted = modules + "-planted"
    shutil.rmtree(planted, ignore_errors=True)
    # Hard links: compiling a module again replaces its link, and does not change the original.
    shutil.copytree(modules, planted, copy_function=os.link)
    check.output = planted
    try:
        for path, old, new in fault.changes:
            path = os.path.join(check.sources, path)
            with open(path) as file:
                text = file.read()
            before.setdefault(path, text)
            if old not in text:
                return f"{path} no longer has: {old}"
            with open(path, "w") as file:
                file.write(text.replace(old, new) if old else text + new)
        return _look(fault, check, files, products)
    finally:
        check.output = modules
        for path, text in before.items():
            with open(path, "w") as file:
                file.write(text)


def _look(fault, check, files, products):
    """What the part of the check says that must find the fault; no more is run than that."""
    targets = [check.targets[name] for name in fault.targets]
    if fault.delegates:
        return delegates.strangers(check, targets[0])
    if fault.evolving:
        return check.compile_evolving(targets[0])
    if fault.narrow:
        return widths.overflows(check, targets[0])
    # Something else sees the module of a target, except for that of the last one.
    seen = targets if fault.mode or fault.libraries else targets[:-1]
    said = ""
    for target in seen:
        os.remove(os.path.join(check.output, target.name + ".swiftmodule"))
        said += check.compile(target)
    if fault.mode:
        return check.compile_app(files, consumers.MODES[fault.mode])
    if fault.libraries:
        return "\n".join(names.collisions(check, products, changed=fault.targets))
    return said + check.typecheck(targets[-1])
