import Foundation
import Testing

@testable import LoaderChainURLSession

/// Keys as written by openssl, with and without their algorithm.
@Suite(.timeLimit(.minutes(10))) struct SubjectPublicKeyInfoTests {
    @Test(arguments: [
        (
            22,
            "MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDO1307Vii5LOm74wKpFuH6CsHPCIchS+Rpl10ExkZgJ7r4FuuHJmgazDJCGgX8RntLKxR8MqhJAh6zDwC39JNM1Q3/mGyEmhrRUQ/PN0FacjJHYg0b1NcnhUTb/T056Qk4hIZe3zykGCImcEMTdbA33WLo7ikNniK8suCUqO2j9wIDAQAB"
        ),
        (
            24,
            "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEApyhAR51iVQiayTn+MlAN3YxjgcDb1AW+Z5FQ6/324KSot6Q3Z5X8RNAdhA8YvakmkQzQvhD5WfDKVxsy0v+0NsLsm6isqRa68x8IROC9WLn4+Jj3PoMoHJtosH4wLu9XaSL8IuoQ+cHgPq0l5v6PtF9GqjSqxq+HMM1VKGYi2mZH2EVPkMQY+Z3K5D3DibQhnVVyFtIoqO6UJ7tIeoVGJeaALQAjNKcU1DkBfTQA7Z1j88HwNWfUYybqJPzjIGy83l2Q4iKBthRI4jAmOrwnhy/oGHeVxOw0z4rWtI2edk7Gx8dI0CBeZMZa1uHHz4PeaWQyUL+zeVF85OLf0mVcywIDAQAB"
        ),
    ])
    func rsaKeyIsPrefixedWithAlgorithm(_ kind: Int, _ text: String) throws {
        let info = try #require(Data(base64Encoded: text))
        #expect(SubjectPublicKeyInfo.rsa(info.dropFirst(kind)) == info)
    }

    @Test(arguments: [
        (
            256,
            "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEsCv5tkMKt2W3U5Pji1/SM2jVjiz0RNR0kqy64+NVl59m1InLWIRQxeeaOLr50F49BaigM7qSI5GGMJe6XPkPwg=="
        ),
        (
            384,
            "MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAE44wsdcdiMHnwqHnue6cvfa27SkrJAnav51H6T87gEmCgYO4Vf4QjP7QAtnKczMOGa2nayN5sl0lh2s6XSTc6SbVk4ArV8X1TIPMF28p1bN61U8SArqfVWUvxI8XQzqCq"
        ),
        (
            521,
            "MIGbMBAGByqGSM49AgEGBSuBBAAjA4GGAAQAeHLDW8VTzlyHdt1vShOPnQztL6tFNRTBspAW2YGP1ARtKp+mCOSo1DNy6OCwbMKROtRvopDdB3CUfTmFGIz6sIABNJwBDeyRjT6hnJP6sScMHBq0maQHeM6Hiy3wOHargPfvLMSifZ+amC5NeDyVJjlUqK5n2DhgS4djtr/hPjwpV6s="
        ),
    ])
    func ellipticCurveKeyIsPrefixedWithAlgorithm(_ bits: Int, _ text: String) throws {
        let info = try #require(Data(base64Encoded: text))
        let key = info.suffix(1 + 2 * ((bits + 7) / 8))
        #expect(SubjectPublicKeyInfo.ellipticCurve(key, bits: bits) == info)
    }

    @Test func unknownCurveIsRejected() { #expect(SubjectPublicKeyInfo.ellipticCurve(Data([4]), bits: 255) == nil) }
}
