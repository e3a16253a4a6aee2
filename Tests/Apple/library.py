"""Builds the modules that the compiler needs to check sources for an Apple system without its SDK: the standard library, and stubs.

The standard library's interfaces on this machine keep their `@available` attributes, so compiling them for an Apple target gives
the library that Apple ships, with the availability of each part. Foundation's new parts come as binary modules without an
interface; a module names its target in one place, and can be used for type-checking once that is replaced.
The rest is in `Stubs`.
"""
import hashlib
import json
import os
import re
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))

# In the order of their imports.
INTERFACES = [
    "Swift", "_Concurrency", "_Builtin_float", "_RegexParser", "_StringProcessing", "SwiftOnoneSupport", "Synchronization",
    "Observation", "Testing",
]
BINARIES = ["_FoundationCollections", "FoundationEssentials", "FoundationInternationalization"]
# Dependencies of the binary modules, which appear in no declaration that the package uses.
HIDDEN = {"Glibc": "@_exported import SwiftGlibc", "_FoundationCShims": "", "_FoundationICU": ""}
# In the order of their imports.
STUBS = [
    "Darwin", "Dispatch", "ObjectiveC", "CoreFoundation", "Security", "Foundation", "CryptoKit", "Network", "MetricKit", "os",
    "UIKit",
]
# Availability on visionOS follows from that on iOS unless it is declared; the settings of an SDK say how.
SETTINGS = {
    "Version": "26.0",
    "MaximumDeploymentTarget": "26.99",
    "VersionMap": {"iOS_xrOS": {f"{version}.0": "1.0" for version in range(7, 18)} | {"18.0": "2.0", "26.0": "26.0"}},
}
# Functions that headers declare only for this machine: those of its longest floating-point type, and of its locks.
MISSING = {
    "Swift": """
@usableFromInline internal func _stdlib_remainderl(_ a: Swift.Float80, _ b: Swift.Float80) -> Swift.Float80
@usableFromInline internal func _stdlib_squareRootl(_ a: Swift.Float80) -> Swift.Float80
""",
    "Synchronization": "@usableFromInline internal func _swift_stdlib_gettid() -> Swift.UInt32",
}


class Failure(Exception):
    """A command that the check needs has failed."""


def run(command, **options):
    result = subprocess.run(command, capture_output=True, text=True, **options)
    if result.returncode != 0:
        raise Failure(" ".join(command[:3]) + " …\n" + result.stdout + result.stderr)
    return result.stdout


class Library:
    """The modules of one platform, built once for each version of the compiler and the stubs."""

    def __init__(self, platform, version, scratch):
        self.platform = platform
        self.target = platform.target(version)
        info = json.loads(run(["swiftc", "-print-target-info"]))
        self.compiler = info["compilerVersion"]
        self.host = info["target"]["moduleTriple"]
        self.toolchain = info["paths"]["runtimeResourcePath"]
        self.file = json.loads(run(["swiftc", "-print-target-info", "-target", self.target]))["target"]["moduleTriple"]
        self.resources = os.path.join(scratch, "resources")
        self.modules = os.path.join(self.resources, platform.folder)
        self.cache = os.path.join(scratch, "clang-modules")

    @property
    def search(self):
        """The flags for the platform and its modules."""
        return [
            "-target", self.target, "-resource-dir", self.resources, "-module-cache-path", self.cache,
            "-sdk", os.path.join(self.resources, "sdk"), "-Xcc", "-nostdlibinc", "-I", os.path.join(HERE, "Stubs", "C"),
            # With an SDK, the compiler would look for these headers of the standard library in the SDK, which has none.
            "-I", os.path.join(self.resources, "shims"),
        ]

    @property
    def flags(self):
        """The flags of everything that is compiled for the platform, besides the search paths."""
        return [
            "-disable-objc-interop",
            "-plugin-path", os.path.join(self.toolchain, "host", "plugins"),
            "-plugin-path", os.path.join(self.toolchain, "host", "plugins", "testing"),
        ]

    def build(self):
        """Builds the modules that have changed since the last time."""
        system = self._digest([os.path.join(HERE, "library.py")])
        stubs = self._digest(
            [os.path.join(folder, name) for folder, _, names in os.walk(os.path.join(HERE, "Stubs")) for name in names])
        if self._stamp("system") != system:
            shutil.rmtree(self.resources, ignore_errors=True)
            os.makedirs(self.modules)
            for folder in ("shims", "clang", "apinotes"):
                os.symlink(os.path.join(self.toolchain, folder), os.path.join(self.resources, folder))
            sdk = os.path.join(self.resources, "sdk")
            os.mkdir(sdk)
            with open(os.path.join(sdk, "SDKSettings.json"), "w") as file:
                json.dump(SETTINGS, file)
            for name in INTERFACES:
                self._compile_interface(name)
            for name, text in HIDDEN.items():
                source = os.path.join(self.resources, name + ".swift")
                with open(source, "w") as file:
                    file.write(text)
                self._compile(name, [source])
            for name in BINARIES:
                self._retarget(name)
            self._stamp("system", system)
        if self._stamp("stubs") != system + stubs:
            shutil.rmtree(self.cache, ignore_errors=True)
            for name in STUBS:
                if name == "UIKit" and self.platform.name == "macos":
                    continue
                folder = os.path.join(HERE, "Stubs", name)
                self._compile(name, sorted(os.path.join(folder, file) for file in os.listdir(folder)))
            self._stamp("stubs", system + stubs)

    def _digest(self, files):
        digest = hashlib.sha256((self.compiler + self.target).encode())
        for file in sorted(files):
            with open(file, "rb") as content:
                digest.update(file.encode() + content.read())
        return digest.hexdigest()

    def _stamp(self, name, value=None):
        file = os.path.join(self.resources, name + ".stamp")
        if value is not None:
            with open(file, "w") as stamp:
                stamp.write(value)
        elif os.path.exists(file):
            with open(file) as stamp:
                return stamp.read()

    def _output(self, name):
        folder = os.path.join(self.modules, name + ".swiftmodule")
        os.makedirs(folder, exist_ok=True)
        return os.path.join(folder, self.file + ".swiftmodule")

    def _source(self, name, kind):
        return os.path.join(self.toolchain, "linux", name + ".swiftmodule", f"{self.host}.{kind}")

    def _compile_interface(self, name):
        with open(self._source(name, "swiftinterface")) as file:
            text = file.read()
        # The flags in an interface take precedence over those of the command.
        text = text.replace(self.host, self.target, 1)
        # Availability is checked from the deployment target on, since nothing here runs on older systems.
        text = re.sub(r" -target-min-inlining-version \w+", "", text)
        text = text.replace("swift-module-flags: ", "swift-module-flags: -target-min-inlining-version target ", 1)
        # An interface leaves out the bodies that this attribute requires.
        text = re.sub(r"@backDeployed\([^)]*\)", "", text)
        text = re.sub(r"^import Glibc$", "", text, flags=re.M)
        text += MISSING.get(name, "")
        source = os.path.join(self.resources, name + ".swiftinterface")
        with open(source, "w") as file:
            file.write(text)
        run(["swift-frontend", "-compile-module-from-interface", source, "-module-name", name, "-o", self._output(name)]
            + (["-parse-stdlib"] if name == "Swift" else [])
            + self.search + self.flags)

    def _retarget(self, name):
        with open(self._source(name, "swiftmodule"), "rb") as file:
            content = file.read()
        start, version = re.match(r"(arm64-apple-\D+)([\d.]+)", self.target).groups()
        # The name has a fixed length in the module, and a version may have leading zeros.
        target = start + version.rjust(len(self.host) - len(start), "0")
        if content.count(self.host.encode()) != 1 or len(target) != len(self.host):
            raise Failure(f"{name}.swiftmodule does not name its target as expected")
        with open(self._output(name), "wb") as file:
            file.write(content.replace(self.host.encode(), target.encode()))

    def _compile(self, name, files):
        # Apple's Dispatch predates `Sendable`, and is imported with the leniency of `@preconcurrency`.
        mode = "5" if name == "Dispatch" else "6"
        run(["swift-frontend", "-emit-module", "-module-name", name, "-parse-as-library", "-swift-version", mode,
             "-enable-library-evolution", "-suppress-warnings",
             "-experimental-skip-all-function-bodies", "-o", self._output(name)] + self.search + self.flags + files)
