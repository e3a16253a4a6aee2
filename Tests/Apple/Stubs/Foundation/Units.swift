// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Units of measurement, and their formatters.

open class Unit: NSObject, @unchecked Sendable {
    open var symbol: String { "" }
    public init(symbol: String) {}
}

open class Dimension: Unit, @unchecked Sendable {}

public final class UnitDuration: Dimension, @unchecked Sendable {
    public class var milliseconds: UnitDuration { fatalError() }
    public class var seconds: UnitDuration { fatalError() }
}

public final class UnitInformationStorage: Dimension, @unchecked Sendable {
    public class var bytes: UnitInformationStorage { fatalError() }
    public class var kilobytes: UnitInformationStorage { fatalError() }
    public class var megabytes: UnitInformationStorage { fatalError() }
    public class var gigabytes: UnitInformationStorage { fatalError() }
}

public struct Measurement<UnitType: Unit>: Sendable {
    public let unit: UnitType
    public var value: Double
    public init(value: Double, unit: UnitType) { fatalError() }
}

open class NumberFormatter: NSObject {
    public enum Style: UInt, Sendable { case none = 0, decimal = 1 }
    open var numberStyle: Style = .none
    open var locale: Locale?
}

open class MeasurementFormatter: NSObject {
    public struct UnitOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let providedUnit = UnitOptions(rawValue: 1)
    }
    open var unitOptions: UnitOptions = []
    open var locale: Locale?
    open var numberFormatter: NumberFormatter?
    open func string<UnitType>(from measurement: Measurement<UnitType>) -> String { "" }
}
