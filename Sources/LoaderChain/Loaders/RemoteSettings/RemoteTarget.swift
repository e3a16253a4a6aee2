import LoaderChainPlatformFoundation

extension RemoteSettings {
    /// What puts each of the program's own settings back that have been replaced, by their names.
    typealias Own = [String: @Sendable () -> Void]

    /// Something that remote settings can set.
    ///
    /// A ``Throttle`` and a ``RateLimit`` have these settings, all of which may be left out:
    ///
    /// | Name | Value |
    /// |---|---|
    /// | `maximumNumberOfRequests` | how many requests may run at once; 0 stops all |
    /// | `perHost` | how many requests of one host may run at once |
    /// | `hostLimits` | an object of hosts, or throttle keys, and how many of their requests may run at once |
    /// | `maximumWaiting` | how many requests may wait |
    /// | `queueTimeout` | how many seconds a request may wait |
    /// | `minimumPriority` | `"low"`, `"normal"` or `"high"`: requests of lower priorities fail at once |
    /// | `rates`, of a rate limit | a list of objects with `requests` or `cost`, `seconds`, and `burst`, which is 1 if left out |
    /// | `until`, of every target | an instant such as `"2026-12-24T18:00:00Z"`, after which the program's own settings hold again |
    ///
    /// Anything of your own can be set too, with what you can decode:
    ///
    /// ```swift
    /// nonisolated struct LogSettings: Decodable, Sendable { var slowerThan: Double }
    ///
    /// let target = RemoteSettings.Target(LogSettings.self) { settings in
    ///     print("From now on, whatever is slower than \(settings?.slowerThan ?? 1) s is logged")
    /// }
    /// ```
    public struct Target: Sendable {
        /// Applies settings that were checked, and notes in what it is given which of the program's own they replace.
        typealias Change = @Sendable (inout Own) -> Void

        /// Checks settings.
        let read: @Sendable (any Decoder) throws -> Change
        /// Brings the program's own settings back.
        let leave: Change
        /// The names that it reads; nil for any.
        let names: Set<String>?

        /// Makes a target that sets anything.
        ///
        /// - Parameters:
        ///   - type: the type of the settings. An error that it throws when it is decoded keeps the whole document from being applied.
        ///   - apply: called with new settings, and with nil when there are none any more. It is never called twice at once.
        public init<Settings: Decodable & Sendable>(
            _ type: Settings.Type, apply: @escaping @Sendable (Settings?) -> Void
        ) {
            self.init(type, names: nil) { settings, _ in apply(settings) }
        }

        private init<Settings: Decodable & Sendable>(
            _ type: Settings.Type, names: Set<String>?, _ apply: @escaping @Sendable (Settings?, inout Own) -> Void
        ) {
            self.names = names
            read = { decoder in
                let settings = try Settings(from: decoder)
                return { apply(settings, &$0) }
            }
            leave = { apply(nil, &$0) }
        }

        /// The limits and the lowest priority of a throttle.
        public static func throttle(_ throttle: Throttle) -> Target {
            Target(ThrottleSettings.self, names: ThrottleSettings.Name.all) { settings, own in
                replace(\.perHost, "perHost", of: throttle, with: settings?.perHost.map(Optional.some), &own)
                replace(\.hostLimits, "hostLimits", of: throttle, with: settings?.hostLimits, &own)
                replace(
                    \.queueTimeout, "queueTimeout", of: throttle, with: settings?.queueTimeout.map(Optional.some), &own)
                replace(\.minimumPriority, "minimumPriority", of: throttle, with: settings?.minimumPriority, &own)
                replace(
                    \.maximumWaiting, "maximumWaiting", of: throttle, with: settings?.maximumWaiting.map(Optional.some),
                    &own)
                // The last one, because a higher limit starts those that wait.
                replace(
                    \.maximumNumberOfRequests, "maximumNumberOfRequests", of: throttle,
                    with: settings?.maximumNumberOfRequests, &own)
            }
        }

        /// The rates of a rate limit.
        public static func rateLimit(_ limit: RateLimit) -> Target {
            Target(RateLimitSettings.self, names: RateLimitSettings.Name.all) { settings, own in
                replace(\.rates, "rates", of: limit, with: settings?.rates, &own)
            }
        }

        /// Sets a value of a loader, or the program's own if there is none.
        private static func replace<Loader: HTTPLoader, Value: Equatable & Sendable>(
            _ path: ReferenceWritableKeyPath<Loader, Value> & Sendable, _ name: String, of loader: Loader,
            with value: Value?, _ own: inout Own
        ) {
            guard let value else {
                own.removeValue(forKey: name)?()
                return
            }
            let current = loader[keyPath: path]
            if own[name] == nil { own[name] = { loader[keyPath: path] = current } }
            if value != current { loader[keyPath: path] = value }
        }
    }
}

/// The settings of a throttle in a document.
private struct ThrottleSettings: Decodable, Sendable {
    enum Name: String, CodingKey, CaseIterable {
        case maximumNumberOfRequests, perHost, hostLimits, maximumWaiting, queueTimeout, minimumPriority

        static let all = Set(allCases.map(\.rawValue))
    }

    var maximumNumberOfRequests: UInt?
    var perHost: UInt?
    var hostLimits: [String: UInt]?
    var maximumWaiting: Int?
    var queueTimeout: Duration?
    var minimumPriority: ThrottlePriority?

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Name.self)
        maximumNumberOfRequests = try values.count(.maximumNumberOfRequests).map(UInt.init)
        perHost = try values.count(.perHost).map(UInt.init)
        hostLimits = try values.decodeIfPresent([String: RemoteCount].self, forKey: .hostLimits)?
            .mapValues { UInt($0.value) }
        maximumWaiting = try values.count(.maximumWaiting)
        queueTimeout = try values.seconds(.queueTimeout)
        minimumPriority = try values.decodeIfPresent(String.self, forKey: .minimumPriority).map { text in
            let priorities = ThrottlePriority.allCases
            guard let priority = priorities.first(where: { "\($0)" == text }) else {
                let names = priorities.map { "\"\($0)\"" }.joined(separator: ", ")
                throw values.error(.minimumPriority, "\(ASCII.quoted(text)) is none of \(names)")
            }
            return priority
        }
    }
}

/// The settings of a rate limit in a document.
private struct RateLimitSettings: Decodable, Sendable {
    enum Name: String, CodingKey, CaseIterable {
        case rates

        static let all = Set(allCases.map(\.rawValue))
    }

    var rates: [RateLimit.Rate]?

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Name.self)
        rates = try values.decodeIfPresent([RateSettings].self, forKey: .rates)?.map(\.rate)
        if let rates, rates.isEmpty {
            throw values.error(.rates, "there is none; leave the name out for the program's own")
        }
    }
}

private struct RateSettings: Decodable, Sendable {
    private enum Name: String, CodingKey, CaseIterable { case requests, cost, seconds, burst }

    let rate: RateLimit.Rate

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Name.self)
        guard let period = try values.seconds(.seconds), period > .zero else {
            throw values.error(.seconds, "a rate needs a period, longer than 0")
        }
        let burst = try values.count(.burst, from: 1) ?? 1
        switch (try values.count(.requests, from: 1), try values.count(.cost, from: 1)) {
        case (let requests?, nil): rate = .init(requests: requests, per: period, burst: burst)
        case (nil, let cost?): rate = .init(cost: cost, per: period, burst: burst)
        default: throw values.error(.requests, "a rate has either requests or a cost")
        }
    }
}

/// A whole number from 0 on.
private struct RemoteCount: Decodable {
    let value: Int

    init(from decoder: any Decoder) throws {
        // Foundation says that a document with a number outside of an integer's range is no JSON at all.
        let number = try decoder.singleValueContainer().decode(Double.self)
        guard number >= 0, number <= 1e15, number == number.rounded(), let value = Int(exactly: number) else {
            throw RemoteProblem("\(number) is not a whole number from 0 on", at: decoder.codingPath)
        }
        self.value = value
    }
}

extension KeyedDecodingContainer {
    func count(_ key: Key, from least: Int = 0) throws -> Int? {
        guard let count = try decodeIfPresent(RemoteCount.self, forKey: key)?.value else { return nil }
        guard count >= least else { throw error(key, "\(count) is less than \(least)") }
        return count
    }

    fileprivate func seconds(_ key: Key) throws -> Duration? {
        guard let seconds = try decodeIfPresent(Double.self, forKey: key) else { return nil }
        guard seconds >= 0, seconds <= 1e9 else {
            throw error(key, "\(seconds) is no number of seconds from 0 to a billion")
        }
        return .seconds(seconds)
    }

    func error(_ key: Key, _ text: String) -> RemoteProblem { RemoteProblem(text, at: codingPath + [key]) }
}
