"""The Apple systems that the package supports, each with its deployment target in Package.swift."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Platform:
    name: str
    """The name of the system in a target triple, and in the paths of its modules."""
    system: str
    folder: str
    """The name of the deployment target in the package's description."""
    key: str

    def target(self, version):
        return f"arm64-apple-{self.system}{version}"


PLATFORMS = {
    platform.name: platform
    for platform in (
        Platform("macos", "macosx", "macosx", "macos"),
        Platform("ios", "ios", "iphoneos", "ios"),
        Platform("tvos", "tvos", "appletvos", "tvos"),
        Platform("watchos", "watchos", "watchos", "watchos"),
        Platform("visionos", "xros", "xros", "visionos"),
    )
}
