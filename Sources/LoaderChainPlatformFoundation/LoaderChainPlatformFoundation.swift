// LoaderChainPlatformFoundation: Foundation, and of it on Linux only what needs neither the network nor ICU. A program that needs
// no more links one library instead of five. Which part there is on a system is decided here for the whole package.

#if canImport(FoundationEssentials)
    @_exported import FoundationEssentials
#else
    @_exported import Foundation
#endif
