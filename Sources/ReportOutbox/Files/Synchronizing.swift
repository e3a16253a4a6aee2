import LoaderChain

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Brings a file or a folder to the disk, as `fsync` does, so that it survives a loss of power.
package func synchronizeDescriptor(_ number: CInt) -> (answer: CInt, code: CInt) {
    #if canImport(Darwin)
        // There, plain fsync stops at the drive's own memory. A file system that cannot do more than that fails this call.
        if uninterrupted({ fcntl(number, F_FULLFSYNC) }).answer != -1 { return (0, 0) }
    #endif
    return uninterrupted { fsync(number) }
}
