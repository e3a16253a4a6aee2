import Foundation

#if canImport(Darwin)
    /// Formats numbers of one unit in one locale, like MetricKit.
    final class SystemFormatter {
        static var locales: [String] { Locale.availableIdentifiers }

        private let formatter = MeasurementFormatter()
        private let unit: Unit

        init?(unit: String, locale: String) {
            let units: [String: Unit] = [
                "millisecond": UnitDuration.milliseconds, "second": UnitDuration.seconds,
                "byte": UnitInformationStorage.bytes, "kilobyte": UnitInformationStorage.kilobytes,
                "megabyte": UnitInformationStorage.megabytes, "gigabyte": UnitInformationStorage.gigabytes,
            ]
            guard let known = units[unit] else { return nil }
            self.unit = known
            formatter.locale = Locale(identifier: locale)
            // A formatter with a new locale may keep the numbers of the old one.
            let numbers = NumberFormatter()
            numbers.numberStyle = .decimal
            numbers.locale = formatter.locale
            formatter.numberFormatter = numbers
            formatter.unitOptions = .providedUnit
        }

        /// The text of a number that is given in ASCII.
        func text(_ number: String) -> String {
            formatter.string(from: Measurement(value: Double(number) ?? .nan, unit: unit))
        }
    }
#else
    /// Formats numbers of one unit in one locale, with Foundation's ICU.
    ///
    /// It is the ICU of Apple's systems, with Apple's own changes to the Unicode CLDR, which a `MeasurementFormatter` uses.
    /// Foundation for Linux has no such formatter, and a program cannot link its ICU, so the functions are looked up by name;
    /// without them, there are no locales.
    final class SystemFormatter {
        private typealias Status = UnsafeMutablePointer<Int32>
        private typealias Count = @convention(c) () -> Int32
        private typealias Name = @convention(c) (Int32) -> UnsafePointer<CChar>?
        private typealias Open =
            @convention(c) (UnsafePointer<UInt16>, Int32, UnsafePointer<CChar>, Status) -> OpaquePointer?
        private typealias OpenResult = @convention(c) (Status) -> OpaquePointer?
        private typealias Format =
            @convention(c) (OpaquePointer, UnsafePointer<CChar>, Int32, OpaquePointer, Status) -> Void
        private typealias Write = @convention(c) (OpaquePointer, UnsafeMutablePointer<UInt16>, Int32, Status) -> Int32
        private typealias Close = @convention(c) (OpaquePointer) -> Void

        private struct Functions {
            let count: Count
            let name: Name
            let open: Open
            let openResult: OpenResult
            let format: Format
            let write: Write
            let closeResult: Close
            let close: Close

            init?() {
                guard let library = dlopen(nil, RTLD_NOW) else { return nil }
                func find<Function>(_ name: String, as type: Function.Type) -> Function? {
                    dlsym(library, "swift_" + name).map { unsafeBitCast($0, to: type) }
                }
                guard let count = find("uloc_countAvailable", as: Count.self),
                    let name = find("uloc_getAvailable", as: Name.self),
                    let open = find("unumf_openForSkeletonAndLocale", as: Open.self),
                    let openResult = find("unumf_openResult", as: OpenResult.self),
                    let format = find("unumf_formatDecimal", as: Format.self),
                    let write = find("unumf_resultToString", as: Write.self),
                    let closeResult = find("unumf_closeResult", as: Close.self),
                    let close = find("unumf_close", as: Close.self)
                else { return nil }
                (self.count, self.name, self.open, self.openResult) = (count, name, open, openResult)
                (self.format, self.write, self.closeResult, self.close) = (format, write, closeResult, close)
            }
        }

        private static let functions = Functions()

        static var locales: [String] {
            guard let functions else { return [] }
            return (0..<functions.count()).compactMap { functions.name($0).map { String(cString: $0) } }
        }

        private let functions: Functions
        private let formatter: OpaquePointer
        private let result: OpaquePointer

        init?(unit: String, locale: String) {
            // Short names, and up to three decimals, are the defaults of a `MeasurementFormatter`.
            let skeleton = Array("unit/\(unit) unit-width-short .###".utf16)
            var status: Int32 = 0
            guard let functions = Self.functions,
                let formatter = functions.open(skeleton, Int32(skeleton.count), locale, &status), status <= 0,
                let result = functions.openResult(&status), status <= 0
            else { return nil }
            (self.functions, self.formatter, self.result) = (functions, formatter, result)
        }

        deinit {
            functions.closeResult(result)
            functions.close(formatter)
        }

        /// The text of a number that is given in ASCII.
        func text(_ number: String) -> String {
            var status: Int32 = 0
            var text = [UInt16](repeating: 0, count: 200)
            functions.format(formatter, number, Int32(number.utf8.count), result, &status)
            let length = functions.write(result, &text, Int32(text.count), &status)
            return status <= 0 ? String(decoding: text[..<Int(length)], as: UTF16.self) : "no text"
        }
    }
#endif
