import DurableFiles
import LoaderChainPlatformFoundation
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct TLSOptionsTests {
    static let pin = PublicKeyHash(base64: "r/mIkG3eEpVdm+u/ko/cwxzOMo1bk4TyHIlByibiA5E=")!
    static let other = PublicKeyHash(base64: "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")!
    static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBdDCCARugAwIBAgIUY8OzbCRwyTpnEHFl9OMqpFENWQ8wCgYIKoZIzj0EAwIw
        DzENMAsGA1UEAwwEVGVzdDAgFw0yNjExMjIxNjA1NDZaGA8yMTI2MTAyOTE2MDU0
        NlowDzENMAsGA1UEAwwEVGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABLAr
        +bZDCrdlt1OT44tf0jNo1Y4s9ETUdJKsuuPjVZefZtSJy1iEUMXnmji6+dBePQWo
        oDO6kiORhjCXulz5D8KjUzBRMB0GA1UdDgQWBBTgt1rTH4UJzDA8JA9dPg/Va6de
        HTAfBgNVHSMEGDAWgBTgt1rTH4UJzDA8JA9dPg/Va6deHTAPBgNVHRMBAf8EBTAD
        AQH/MAoGCCqGSM49BAMCA0cAMEQCIB57T4FJOzuRNDXyrIyqXUCT0iNagDcXSHCo
        I61wzxEbAiBhXKTPz6w3RpqZ/AoiDuZMy/Vc0hbMEgqvc6fj4ovBlw==
        -----END CERTIFICATE-----

        """
    /// In the form of a key, but none.
    static let key = "-----BEGIN EC PRIVATE KEY-----\nMAMCAQE=\n-----END EC PRIVATE KEY-----\n"
    static let archive = TLSMaterial.data(Data([0x30, 0x80, 1, 2]))
    static let everything: Set<TLSOptions.Feature> = [
        .onlyOwnAuthorities, .additionalAuthorities, .pemClientCertificate, .pkcs12ClientCertificate, .pins,
        .minimumVersion,
    ]

    static func options(_ change: (inout TLSOptions) -> Void) -> TLSOptions {
        var options = TLSOptions()
        change(&options)
        return options
    }

    func refusal(_ options: TLSOptions, supporting features: Set<TLSOptions.Feature> = everything) -> String? {
        do throws(TLSOptions.Refused) { try options.check(for: "The terminal", supporting: features) } catch {
            #expect(error.localizedDescription == error.reason && "\(error)" == error.reason)
            return error.reason
        }
        return nil
    }

    // MARK: What a terminal cannot do

    static let each: [(TLSOptions, TLSOptions.Feature)] = [
        (options { $0.authorities = .only(.pem(certificate)) }, .onlyOwnAuthorities),
        (options { $0.authorities = .systemAnd(.pem(certificate)) }, .additionalAuthorities),
        (
            options { $0.clientCertificate = .pem(certificate: .pem(certificate), key: .pem(key)) },
            .pemClientCertificate
        ),
        (options { $0.clientCertificate = .pkcs12(archive, passphrase: "geheim") }, .pkcs12ClientCertificate),
        (options { $0.pins["localhost"] = [pin] }, .pins), (options { $0.minimumVersion = .v1_2 }, .minimumVersion),
    ]

    @Test(arguments: each) func unsupportedFeatureIsRefused(_ options: TLSOptions, _ feature: TLSOptions.Feature) {
        #expect(options.features == [feature])
        #expect(refusal(options) == nil)
        #expect(refusal(options, supporting: [feature]) == nil)
        #expect(refusal(options, supporting: Self.everything.subtracting([feature]))?.contains("\(feature)") == true)
        #expect(refusal(options, supporting: [])?.hasPrefix("The terminal cannot \(feature); use another") == true)
    }

    @Test func defaultOptionsNeedNoFeatures() {
        #expect(TLSOptions().features.isEmpty)
        #expect(refusal(TLSOptions(), supporting: []) == nil)
    }

    @Test func refusalSuggestsSupportedCertificateFormat() {
        let pem = Self.each[2].0
        let archive = Self.each[3].0
        #expect(refusal(pem, supporting: [.pkcs12ClientCertificate])?.contains("openssl pkcs12 -export") == true)
        #expect(refusal(archive, supporting: [.pemClientCertificate])?.contains("openssl pkcs12 -in") == true)
        #expect(refusal(archive, supporting: [.pins])?.contains("openssl") == false)
    }

    // MARK: Options that are not whole

    @Test(arguments: ["", "https://a.example", "a.example:443", "a.example/", "*", "*.", "*.*.example", "[::1]", "a b"])
    func pinsForInvalidHostAreRefused(_ host: String) {
        #expect(refusal(Self.options { $0.pins[host] = [Self.pin] })?.contains("which is not a valid host") == true)
    }

    @Test func emptyPinSetIsRefused() {
        #expect(refusal(Self.options { $0.pins["a.example"] = [] })?.contains("a.example has an empty set") == true)
    }

    @Test func hostWithPinsUnderTwoSpellingsIsRefused() {
        for (first, second) in [("a.example", "A.example."), ("*.b.example", "*.B.example")] {
            let options = Self.options { $0.pins = [first: [Self.pin], second: [Self.other]] }
            #expect(refusal(options)?.contains("two spellings") == true)
        }
    }

    @Test(arguments: [
        options { $0.authorities = .only() }, options { $0.authorities = .only(.pem("")) },
        options { $0.authorities = .only(.pem(key)) }, options { $0.authorities = .systemAnd(.data(Data([0x30, 5]))) },
        options { $0.authorities = .only(.pem(certificate), .pem("nothing")) },
        options { $0.authorities = .only(.pem(String(certificate.dropLast(100)))) },
        options { $0.clientCertificate = .pem(certificate: .pem(certificate), key: .pem(certificate)) },
        options { $0.clientCertificate = .pem(certificate: .pem(key), key: .pem(key)) },
        options { $0.clientCertificate = .pkcs12(.pem(certificate), passphrase: "") },
        options { $0.clientCertificate = .pkcs12(.data(Data()), passphrase: "") },
    ])
    func materialOfWrongKindIsRefused(_ options: TLSOptions) { #expect(refusal(options) != nil) }

    @Test func fileIsReadWhenOptionsAreChecked() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "authority.pem")
        let options = Self.options { $0.authorities = .only(.file(file)) }
        #expect(refusal(options)?.contains("authority.pem with certificates or a key could not be opened") == true)
        try Data(Self.certificate.utf8).write(to: file)
        #expect(refusal(options) == nil)
        #expect(try options.authorities.certificates() == PEM.blocks(in: Data(Self.certificate.utf8)).map(\.bytes))
        #expect(refusal(Self.options { $0.authorities = .only(.file(folder)) }) != nil)
        #expect(refusal(Self.options { $0.authorities = .only(.file(URL(string: "https://a.example/")!)) }) != nil)
    }

    // MARK: Pins

    @Test func pinsOfMostSpecificHostPatternApply() {
        let options = Self.options {
            $0.pins = [
                "A.example": [Self.pin], "*.b.example.": [Self.pin], "*.c.b.example": [Self.other],
                "x.b.example": [Self.other],
            ]
        }
        let expected: [String: Set<PublicKeyHash>?] = [
            "a.example": [Self.pin], "A.EXAMPLE": [Self.pin], "a.example.": [Self.pin], "b.a.example": nil,
            "xa.example": nil, "b.example": nil, "y.b.example": [Self.pin], "y.b.example.": [Self.pin],
            "x.b.example": [Self.other], "z.x.b.example": [Self.pin], "d.c.b.example": [Self.other],
            "yb.example": nil, ".b.example": nil, "": nil,
        ]
        for (host, pins) in expected { #expect(options.pins(for: host) == pins, "\(host)") }
    }

    @Test func pinnedHostIsNotReachedOverHTTP() {
        let options = Self.options { $0.pins["a.example"] = [Self.pin] }
        #expect(options.reasonNotToSend(HTTPRequest(scheme: "http", host: "A.example")) != nil)
        #expect(options.reasonNotToSend(HTTPRequest(scheme: "HTTPS", host: "A.example")) == nil)
        #expect(options.reasonNotToSend(HTTPRequest(scheme: "http", host: "b.example")) == nil)
    }

    @Test(arguments: ["", "short", "r/mIkG3eEpVdm+u/ko/cwxzOMo1bk4TyHIlByibiA5E"])
    func invalidHashIsRejected(_ text: String) { #expect(PublicKeyHash(base64: text) == nil) }

    // MARK: The rest

    @Test func versionsAreOrdered() {
        #expect(TLSVersion.v1_2 < .v1_3)
        #expect("\(TLSVersion.v1_3)" == "TLS 1.3")
    }

    @Test func descriptionsHaveNoSecrets() {
        let options = Self.options {
            $0.clientCertificate = .pem(
                certificate: .pem(Self.certificate), key: .pem(Self.key), passphrase: "geheim")
            $0.authorities = .only(.file(URL(filePath: "/etc/authority.pem")))
            $0.minimumVersion = .v1_3
            $0.pins["a.example"] = [Self.pin]
        }
        let key = TLSMaterial.pem(Self.key)
        for value in [options, options.clientCertificate as Any, CertificateAuthorities.only(key), key] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] {
                #expect(!text.contains("geheim") && !text.contains("MAMCAQE"))
            }
        }
        #expect(
            "\(options)"
                == "TLSOptions(authorities: /etc/authority.pem, client certificate: PEM, bytes in memory, pins: a.example, at least TLS 1.3)"
        )
    }
}

@Suite(.timeLimit(.minutes(10))) struct PEMTests {
    @Test func blocksAreFoundBetweenOtherLines() {
        let text =
            "a\r\n-----BEGIN A-----\r\nAQ==\r\n-----END A-----\r\nb\n-----BEGIN B C-----\nAg\n==\n-----END B C-----"
        #expect(
            PEM.blocks(in: Data(text.utf8)) == [
                PEM.Block(label: "A", bytes: Data([1])), PEM.Block(label: "B C", bytes: Data([2])),
            ])
    }

    @Test(arguments: [
        "", "-----BEGIN A-----", "-----BEGIN A-----\nAQ==\n-----END B-----", "-----END A-----", "-----BEGIN -",
        "-----BEGIN A-----\nAQ==\n-----BEGIN B-----", "-----BEGIN A----\nAQ==\n-----END A----",
    ])
    func incompleteBlockIsIgnored(_ text: String) { #expect(PEM.blocks(in: Data(text.utf8)).isEmpty) }

    @Test func twoCertificatesAreTwoBlocks() throws {
        let certificate = try #require(PEM.blocks(in: Data(TLSOptionsTests.certificate.utf8)).first)
        let two = TLSOptionsTests.certificate + TLSOptionsTests.certificate
        #expect(PEM.blocks(in: Data(two.utf8)) == [certificate, certificate])
    }

    @Test func isDERRequiresCompleteSequence() throws {
        let bytes = try #require(PEM.blocks(in: Data(TLSOptionsTests.certificate.utf8)).first).bytes
        #expect(PEM.isDER(bytes))
        #expect(!PEM.isDER(bytes.dropLast()) && !PEM.isDER(bytes + [0]) && !PEM.isDER(bytes.dropFirst()))
        #expect(PEM.isDER(Data([0x30, 0])) && PEM.isDER(Data([0, 0x30, 1, 7]).dropFirst()))
        let broken: [[UInt8]] = [
            [], [0x30], [0x30, 0x80], [0x30, 0x85, 0, 0, 0, 0, 0], [0x30, 0x84, 255, 255, 255, 255], [0x31, 0],
        ]
        for bytes in broken { #expect(!PEM.isDER(Data(bytes))) }
    }

    @Test func damagedTextDoesNotTrap() {
        var random = SeededGenerator(seed: 7)
        let whole = Array((TLSOptionsTests.certificate + TLSOptionsTests.key).utf8)
        for _ in 0..<300 {
            var bytes = whole
            for _ in 0..<3 {
                bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random)
            }
            for block in PEM.blocks(in: Data(bytes)) { _ = PEM.isDER(block.bytes) }
        }
    }
}
