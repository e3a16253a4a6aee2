/// A number that a loader tells of itself, for a dashboard: how many wait, how many may run, how many it has refused.
///
/// ```swift
/// for reading in chain.chainReadings {
///     print(reading)  // loaderchain.throttle.waiting{loader=Throttle} 3
/// }
/// ```
///
/// A loader of your own tells its numbers by overriding ``HTTPLoader/readings``.
public struct LoaderReading: Hashable, Sendable {
    /// The name, one of a few, with dots, as in `loaderchain.throttle.waiting`.
    public let name: String
    /// How the number behaves.
    public let kind: Kind
    /// The unit, as UCUM writes it: `By`, `s`, or what is counted in braces, as in `{request}`.
    public let unit: String
    /// What the number says, as a short phrase.
    public let help: String
    /// What tells series of one name apart, of which there are few.
    public var attributes: [String: String]
    /// The number.
    public let value: Int64

    /// How a number behaves.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The name of the kind.
        public let description: String

        /// How many there are at the moment; the sum over all hosts and programs says something too.
        public static let level = Kind(description: "level")
        /// A value of the moment that no sum can be made of, such as a limit that several loaders share.
        public static let gauge = Kind(description: "gauge")
        /// How many there were since the loader was made; it only grows.
        public static let counter = Kind(description: "counter")
    }

    /// Makes a reading.
    ///
    /// - Parameters:
    ///   - name: the name, one of a few, with dots.
    ///   - kind: how the number behaves.
    ///   - value: the number.
    ///   - unit: the unit, as UCUM writes it.
    ///   - help: what the number says.
    ///   - attributes: what tells series of one name apart, of which there should be few.
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

    /// The readings of a chain, with its name as the attribute `chain` if it has one.
    package final func chainReadings(named name: String?) -> [LoaderReading] {
        guard let name else { return chainReadings }
        return chainReadings.map { reading in
            var named = reading
            named.attributes["chain"] = name
            return named
        }
    }
}
