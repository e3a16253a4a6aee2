/// A live number of a loader, for a dashboard: how many tasks wait, how many may run, how many it has refused.
///
/// ```swift
/// for reading in chain.chainReadings {
///     print(reading)  // loaderchain.throttle.waiting{loader=Throttle} 3
/// }
/// ```
///
/// A loader of your own reports its numbers by overriding ``HTTPLoader/readings``.
public struct LoaderReading: Hashable, Sendable {
    /// The name, from a small fixed set, with dots, as in `loaderchain.throttle.waiting`.
    public let name: String
    /// The behavior of the number.
    public let kind: Kind
    /// The unit, as UCUM writes it: `By`, `s`, or what is counted in braces, as in `{request}`.
    public let unit: String
    /// The meaning of the number, as a short phrase.
    public let help: String
    /// The attributes that distinguish the series of one name; use few values.
    public var attributes: [String: String]
    /// The number.
    public let value: Int64

    /// The behavior of a number.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The name of the kind.
        public let description: String

        /// A number at the moment; the sum over all hosts and programs is meaningful too.
        public static let level = Kind(description: "level")
        /// A value at the moment that must not be summed, such as a limit that several loaders share.
        public static let gauge = Kind(description: "gauge")
        /// A count since the loader was made; it only grows.
        public static let counter = Kind(description: "counter")
    }

    /// Makes a reading.
    ///
    /// - Parameters:
    ///   - name: the name, from a small fixed set, with dots.
    ///   - kind: the behavior of the number.
    ///   - value: the number.
    ///   - unit: the unit, as UCUM writes it.
    ///   - help: the meaning of the number.
    ///   - attributes: the attributes that distinguish the series of one name; use few values.
    public init(
        _ name: String, _ kind: Kind, _ value: some BinaryInteger, unit: String, help: String,
        attributes: [String: String] = [:]
    ) {
        self.name = name
        self.kind = kind
        self.value = Int64(clamping: value)
        self.unit = unit
        self.help = help
        self.attributes = attributes
    }
}

/// The readings of this library's own loaders, whose names begin with `loaderchain.`.
extension LoaderReading {
    static func level(
        _ name: String, _ value: some BinaryInteger, unit: String = "{request}", _ help: String,
        _ attributes: [String: String] = [:]
    ) -> Self {
        Self("loaderchain.\(name)", .level, value, unit: unit, help: help, attributes: attributes)
    }

    static func gauge(_ name: String, _ value: some BinaryInteger, unit: String, _ help: String) -> Self {
        Self("loaderchain.\(name)", .gauge, value, unit: unit, help: help)
    }

    static func counter(
        _ name: String, _ value: some BinaryInteger, unit: String = "{request}", _ help: String,
        _ attributes: [String: String] = [:]
    ) -> Self {
        Self("loaderchain.\(name)", .counter, value, unit: unit, help: help, attributes: attributes)
    }
}

extension LoaderReading: CustomStringConvertible {
    /// The name, the attributes and the number.
    public var description: String {
        let pairs = attributes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ", ")
        return ASCII.printable("\(name){\(pairs)} \(value)")
    }
}

extension HTTPLoader {
    /// The readings of this loader and of all that come after it, branches included, each loader once.
    ///
    /// The attribute `loader` has the name of the loader; the second of that name is `Throttle 2`, and so on along the chain.
    public final var chainReadings: [LoaderReading] {
        var readings: [LoaderReading] = []
        var namesakes: [String: Int] = [:]
        for visited in fromHereOn {
            let own = visited.readings
            if own.isEmpty { continue }
            let number = namesakes[visited.name, default: 0] + 1
            namesakes[visited.name] = number
            let label = number == 1 ? visited.name : "\(visited.name) \(number)"
            for var reading in own {
                reading.attributes["loader"] = label
                readings.append(reading)
            }
        }
        return readings
    }
}
