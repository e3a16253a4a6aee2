// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// The trust of a server, its certificates and their keys.
@_exported import CoreFoundation

public final class SecTrust: @unchecked Sendable {}
public final class SecCertificate: @unchecked Sendable {}
public final class SecKey: @unchecked Sendable {}
public final class SecIdentity: @unchecked Sendable {}

public func SecTrustEvaluateWithError(
    _ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?
) -> Bool { fatalError() }
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? { fatalError() }
public func SecTrustCopyKey(_ trust: SecTrust) -> SecKey? { fatalError() }
public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? { fatalError() }
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData { fatalError() }
public func SecKeyCopyExternalRepresentation(
    _ key: SecKey, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? { fatalError() }
public func SecKeyCopyAttributes(_ key: SecKey) -> CFDictionary? { fatalError() }

public let kSecAttrKeyType: CFString = ""
public let kSecAttrKeySizeInBits: CFString = ""
public let kSecAttrKeyTypeRSA: CFString = ""
public let kSecAttrKeyTypeECSECPrimeRandom: CFString = ""
public let kSecClass: CFString = ""
