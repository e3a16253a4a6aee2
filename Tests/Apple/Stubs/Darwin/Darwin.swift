// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// Apple's overlay for its C library, whose variadic functions and larger macros Swift cannot import.
@_exported import SwiftGlibc

public var errno: Int32 {
    get { fatalError() }
    set { fatalError() }
}

public var S_IFMT: mode_t { 0xf000 }
public var S_IFDIR: mode_t { 0x4000 }
public var S_IFREG: mode_t { 0x8000 }
public var S_IFLNK: mode_t { 0xa000 }

public func open(_ path: UnsafePointer<CChar>, _ oflag: Int32) -> Int32 { fatalError() }
public func open(_ path: UnsafePointer<CChar>, _ oflag: Int32, _ mode: mode_t) -> Int32 { fatalError() }
public func openat(_ fd: Int32, _ path: UnsafePointer<CChar>, _ oflag: Int32) -> Int32 { fatalError() }
public func openat(_ fd: Int32, _ path: UnsafePointer<CChar>, _ oflag: Int32, _ mode: mode_t) -> Int32 { fatalError() }
public func fcntl(_ fd: Int32, _ cmd: Int32) -> Int32 { fatalError() }
public func fcntl(_ fd: Int32, _ cmd: Int32, _ value: Int32) -> Int32 { fatalError() }
public func fcntl(_ fd: Int32, _ cmd: Int32, _ pointer: UnsafeMutableRawPointer) -> Int32 { fatalError() }
public func ioctl(_ fd: Int32, _ request: UInt, _ value: CInt) -> CInt { fatalError() }
public func ioctl(_ fd: Int32, _ request: UInt, _ pointer: UnsafeMutableRawPointer) -> CInt { fatalError() }
public func ioctl(_ fd: Int32, _ request: UInt) -> CInt { fatalError() }

public var CLOCK_REALTIME: clockid_t { fatalError() }
public var CLOCK_MONOTONIC: clockid_t { fatalError() }
public var CLOCK_MONOTONIC_RAW: clockid_t { fatalError() }
public var CLOCK_UPTIME_RAW: clockid_t { fatalError() }
public var CLOCK_PROCESS_CPUTIME_ID: clockid_t { fatalError() }
public var CLOCK_THREAD_CPUTIME_ID: clockid_t { fatalError() }

public enum POSIXErrorCode: Int32, Sendable {
    case EPERM = 1
    case ENOENT = 2
    case EINTR = 4
    case EIO = 5
    case EBADF = 9
    case EACCES = 13
    case EEXIST = 17
    case ENOMEM = 12
    case EINVAL = 22
    case ENFILE = 23
    case EMFILE = 24
    case ENOSPC = 28
    case EPIPE = 32
    case EADDRNOTAVAIL = 49
    case ENETDOWN = 50
    case ENETUNREACH = 51
    case ENOBUFS = 55
    case EDQUOT = 69
    case EBADMSG = 94
    case EPROTO = 100
    case ECONNABORTED = 53
    case ECONNRESET = 54
    case ENOTCONN = 57
    case ESHUTDOWN = 58
    case ETIMEDOUT = 60
    case ECONNREFUSED = 61
    case EHOSTDOWN = 64
    case EHOSTUNREACH = 65
}

public var SIG_DFL: sig_t? { nil }
public var SIG_IGN: sig_t { fatalError() }
public var SIG_ERR: sig_t { fatalError() }

// The argument vectors are arrays of optional strings, because Apple's header has no nullability.
public func posix_spawn(
    _ process: UnsafeMutablePointer<pid_t>!, _ path: UnsafePointer<CChar>!,
    _ actions: UnsafePointer<posix_spawn_file_actions_t?>!, _ attributes: UnsafePointer<posix_spawnattr_t?>!,
    _ arguments: UnsafePointer<UnsafeMutablePointer<CChar>?>!,
    _ environment: UnsafePointer<UnsafeMutablePointer<CChar>?>!
) -> Int32 { fatalError() }

// On iOS, `fork` and `exec` are unavailable.
@available(*, unavailable, message: "Please use threads or posix_spawn*()")
public func fork() -> Int32 { fatalError() }
