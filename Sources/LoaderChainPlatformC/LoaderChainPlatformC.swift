// LoaderChainPlatformC: the system's C library under one name. Files that import Foundation have it already.

#if canImport(Darwin)
    @_exported import Darwin
#elseif canImport(Glibc)
    @_exported import Glibc
#elseif canImport(Musl)
    @_exported import Musl
#endif
