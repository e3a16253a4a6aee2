#if os(Linux)
    import CLoaderChainCurl
    import CLoaderChainZlib
    import LoaderChain
    import LoaderChainGzip
    import LoaderChainPlatformFoundation

    /// Decodes the codings of a response's body, piece by piece, and notices a body that was cut.
    ///
    /// libcurl could decode bodies too, but it delivers one that was cut as if it were whole, and makes sixteen megabytes of
    /// sixteen kilobytes at once.
    final class BodyDecoder {
        /// A coding that has a library on this system.
        private enum Coding: String, CaseIterable {
            case gzip, deflate, br, zstd

            init?(name: String) { self.init(rawValue: name == "x-gzip" ? "gzip" : name) }

            var isAvailable: Bool {
                switch self {
                case .gzip, .deflate: loaderchain_zlib_version() != nil
                case .br: loaderchain_decoder_exists(Int32(loaderchain_coding_brotli)) != 0
                case .zstd: loaderchain_decoder_exists(Int32(loaderchain_coding_zstd)) != 0
                }
            }

            func makeStep() -> any DecodingStep {
                switch self {
                case .gzip: GzipDecoder(.gzip)
                case .deflate: GzipDecoder(.deflate)
                case .br: LibraryDecoder(Int32(loaderchain_coding_brotli))
                case .zstd: LibraryDecoder(Int32(loaderchain_coding_zstd))
                }
            }
        }

        /// The codings of this system, for a request's `Accept-Encoding`.
        static let accepted = Coding.allCases.filter(\.isAvailable).map(\.rawValue).joined(separator: ", ")

        enum Fault: Error {
            case unknownCoding(String)
            case severalCodings
            case damaged
            case cut
            case growsTooMuch

            var reason: String {
                switch self {
                case .unknownCoding(let name):
                    "The body has the coding \(ASCII.quoted(name)), which this system cannot decode; \(Self.advice)"
                case .severalCodings: "The body has several codings, each of which could make much of little"
                case .damaged: "The body is not what its Content-Encoding says, or is damaged"
                case .cut: "The body ended before its Content-Encoding did"
                case .growsTooMuch:
                    "The body grows more than \(BodyDecoder.mostGrowth)-fold when it is decoded; \(Self.advice)"
                }
            }

            private static let advice = "name it in Accept-Encoding to get the body as it is"
        }

        private let step: any DecodingStep
        private var (taken, given) = (0, 0)

        /// A decoded body may have this many times the bytes that arrive; gzip can make a thousandfold, and brotli a millionfold, which
        /// would hold up the thread and fill the disk.
        private static let mostGrowth = 2_000
        /// A decoded body may have this many bytes in any case.
        private static let freeBytes = 16 << 20

        private init(_ step: any DecodingStep) { self.step = step }

        /// Makes a decoder for a response; nil if its body is not encoded, or is to be delivered as it is.
        static func make(for headers: HTTPHeaders, to request: HTTPHeaders) throws(Fault) -> BodyDecoder? {
            guard headers.contains("Content-Encoding") else { return nil }
            let names = headers.list(for: "Content-Encoding").map { $0.lowercased() }.filter { $0 != "identity" }
            guard let name = names.first else { return nil }
            guard names.count == 1 else { throw .severalCodings }
            guard let coding = Coding(name: name), coding.isAvailable else {
                // Who asks for a coding can decode it.
                if request.list(for: "Accept-Encoding", contains: name) { return nil }
                throw .unknownCoding(name)
            }
            return BodyDecoder(coding.makeStep())
        }

        /// Decodes the next bytes; `pass` gets the output, at most 64 KiB at a time, and returns whether it wants more.
        func decode(_ bytes: ArraySlice<UInt8>, _ pass: (ArraySlice<UInt8>) -> Bool) throws(Fault) {
            taken += bytes.count
            let most = Self.freeBytes + Self.mostGrowth * taken
            let isSound = step.take(bytes) { output in
                given += output.count
                return given <= most && pass(output)
            }
            if given > most { throw .growsTooMuch }
            if !isSound { throw .damaged }
        }

        /// Notes that no more bytes come; a body without any is fine, as for HEAD.
        func finish() throws(Fault) {
            if taken > 0, !step.isComplete { throw .cut }
        }
    }

    /// One coding on the way of a body.
    private protocol DecodingStep: AnyObject {
        /// Whether a stream has been decoded to its end, or none has begun.
        var isComplete: Bool { get }
        /// Decodes the next bytes until no more output is wanted; false if they are damaged.
        func take(_ bytes: ArraySlice<UInt8>, _ pass: (ArraySlice<UInt8>) -> Bool) -> Bool
    }

    extension GzipDecoder: DecodingStep {
        fileprivate func take(_ bytes: ArraySlice<UInt8>, _ pass: (ArraySlice<UInt8>) -> Bool) -> Bool {
            do throws(Fault) {
                try decode(bytes, pass)
                return true
            } catch {
                return false
            }
        }
    }

    /// A stream of brotli or zstd.
    private final class LibraryDecoder: DecodingStep {
        private enum Phase { case before, within, after }

        private let coding: Int32
        private let decoder: OpaquePointer?
        private var output = [UInt8](repeating: 0, count: 1 << 16)
        private var phase = Phase.before

        init(_ coding: Int32) {
            self.coding = coding
            decoder = loaderchain_decoder_make(coding)
        }

        deinit { if let decoder { loaderchain_decoder_end(decoder) } }

        var isComplete: Bool { phase != .within }

        func take(_ bytes: ArraySlice<UInt8>, _ pass: (ArraySlice<UInt8>) -> Bool) -> Bool {
            guard let decoder else { return false }
            var rest = bytes
            while !rest.isEmpty || phase == .within {
                // A stream of zstd may have several frames, one of brotli ends for good.
                if phase == .after, coding == Int32(loaderchain_coding_brotli) { return false }
                let (result, used, written) = step(decoder, rest)
                rest = rest.dropFirst(used)
                if written > 0, !pass(output[..<written]) { return true }
                switch result {
                case loaderchain_coding_wants_input:
                    phase = .within
                    if rest.isEmpty { return true }
                    if used == 0, written == 0 { return false }
                case loaderchain_coding_has_output: phase = .within
                case loaderchain_coding_has_ended: phase = .after
                default: return false
                }
            }
            return true
        }

        private func step(
            _ decoder: OpaquePointer, _ bytes: ArraySlice<UInt8>
        ) -> (result: Int, used: Int, written: Int) {
            bytes.withUnsafeBytes { input in
                output.withUnsafeMutableBytes { output in
                    var (used, written) = (input.count, output.count)
                    let result = loaderchain_decoder_step(
                        decoder, input.baseAddress, &used, output.baseAddress, &written)
                    return (Int(result), used, written)
                }
            }
        }
    }
#endif
