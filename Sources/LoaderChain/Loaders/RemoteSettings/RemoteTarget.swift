import LoaderChainPlatformFoundation

extension RemoteSettings {
    /// Something that remote settings can set.
    ///
    /// A ``Throttle`` and a ``RateLimit`` have these settings, all of which may be left out:
    ///
    /// | Name | Value |
    /// |---|---|
    /// | `maximumNumberOfRequests` | how many requests may run at once; 0 stops all |
    /// | `perHost` | how many requests of one host may run at once |
    /// | `hostLimits` | an object of hosts, or throttle keys, and how many of their requests may run at once; it replaces all of the program's |
    /// | `maximumWaiting` | how many requests may wait |
    /// | `queueTimeout` | how many seconds a request may wait |
    /// | `minimumPriority` | `"low"`, `"normal"` or `"high"`: requests of lower priorities fail at once |
    /// | `rates`, of a rate limit | a list of objects with `requests` or `cost`, `seconds`, and `burst`, which is 1 if left out |
    /// | `until`, of every target | an instant such as `"2026-12-24T18:00:00Z"`, after which, within an interval, the program's own settings hold again |
    ///
    /// If the program changes a value while a document sets it, the document's is set again, and the program's comes into force when
    /// the document's ends.
    ///
    /// Anything of your own can be set too, with a type that is decoded from an object:
    ///
    /// ```swift
    /// nonisolated struct LogSettings: Decodable, Sendable { var slowerThan: Double }
    ///
    /// let target = RemoteSettings.Target(LogSettings.self) { settings in
    ///     print("From now on, whatever is slower than \(settings?.slowerThan ?? 1) s is logged")
    /// }
    /// ```
    public struct Target: Sendable {
        /// Checks settings, and returns what applies them.
        let read: @Sendable (any Decoder) throws -> @Sendable () -> Void
        /// Brings the program's own settings back.
        let leave: @Sendable () -> Void
        /// The names that it reads; nil for any.
        let names: Set<String>?
        /// Whether settings may be applied again that hold already.
        let mayBeSetAgain: Bool

        /// Makes a target that sets anything.
        ///
        /// - Parameters:
        ///   - type: the type of the settings. An error that it throws when it is decoded keeps the whole document from being applied.
        ///   - apply: called with new settings, and with nil when there are none any more. It is never called twice at once.
        public init<Settings: Decodable & Sendable>(
            _ type: Settings.Type, apply: @escaping @Sendable (Settings?) -> Void
        ) {
            self.init(type, names: nil, apply)
        }

        private init<Settings: Decodable & Sendable>(
            _ type: Settings.Type, names: Set<String>?, _ apply: @escaping @Sendable (Settings?) -> Void
        ) {
            self.names = names
            mayBeSetAgain = names != nil
            read = { decoder in
                let settings = try Settings(from: decoder)
                return { apply(settings) }
            }
            leave = { apply(nil) }
        }

        /// The limits and the lowest priority of a throttle.
        public static func throttle(_ throttle: Throttle) -> Target {
            Target(ThrottleSettings.self, names: ThrottleSettings.Name.names) { settings in
                func set<Value: Equatable & Sendable>(
                    _ path: ReferenceWritableKeyPath<Throttle, Value>, _ name: ThrottleSettings.Name, _ value: Value?
                ) {
                    replace(path, of: throttle, with: value, name.rawValue, throttle.replacedSettings)
                }
                set(\.perHost, .perHost, settings?.perHost.map(Optional.some))
                set(\.hostLimits, .hostLimits, settings?.hostLimits)
                set(\.queueTimeout, .queueTimeout, settings?.queueTimeout.map(Optional.some))
                set(\.minimumPriority, .minimumPriority, settings?.minimumPriority)
                set(\.maximumWaiting, .maximumWaiting, settings?.maximumWaiting.map(Optional.some))
                // The last one, because a higher limit starts those that wait.
                set(\.maximumNumberOfRequests, .maximumNumberOfRequests, settings?.maximumNumberOfRequests)
            }
        }

        /// The rates of a rate limit.
        public static func rateLimit(_ limit: RateLimit) -> Target {
            Target(RateLimitSettings.self, names: RateLimitSettings.Name.names) { settings in
                replace(\.rates, of: limit, with: settings?.rates, "rates", limit.replacedSettings)
            }
        }

        /// A setting of a loader, which another one has replaced.
        private struct Replaced<Value: Equatable & Sendable>: Sendable {
            let own: Value
            let remote: Value
        }

        /// Sets a value of a loader, or the program's own if there is none.
        ///
        /// The loader keeps the program's own values, so that they are not taken for others if settings are made anew.
        private static func replace<Loader: HTTPLoader, Value: Equatable & Sendable>(
            _ path: ReferenceWritableKeyPath<Loader, Value>, of loader: Loader, with value: Value?, _ name: String,
            _ replaced: Locked<[String: any Sendable]>
        ) {
            let before = replaced.withLock { $0[name] } as? Replaced<Value>
            if before == nil, value == nil { return }
            let current = loader[keyPath: path]
            // If the program has changed it meanwhile, that is its own.
            let own = before.map { current == $0.remote ? $0.own : current } ?? current
            let next = value ?? own
            if next != current { loader[keyPath: path] = next }
            // As the loader has it, which may have rounded it.
            let remote = value.map { _ in loader[keyPath: path] }
            replaced.withLock { $0[name] = remote.map { Replaced(own: own, remote: $0) } }
        }
    }
}

extension CaseIterable where Self: RawRepresentable<String> {
    fileprivate static var names: Set<String> { Set(allCases.map(\.rawValue)) }
}

private struct ThrottleSettings: Decodable, Sendable {
    enum Name: String, CodingKey, CaseIterable {
        case maximumNumberOfRequests, perHost, hostLimits, maximumWaiting, queueTimeout, minimumPriority
    }

    var maximumNumberOfRequests: UInt?
    var perHost: UInt?
    var hostLimits: [String: UInt]?
    var maximumWaiting: Int?
    var queueTimeout: Duration?
    var minimumPriority: ThrottlePriority?

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Name.self)
        maximumNumberOfRequests = try values.count(.maximumNumberOfRequests).map { UInt(clamping: $0) }
        perHost = try values.count(.perHost).map { UInt(clamping: $0) }
        hostLimits = try values.decodeIfPresent([String: RemoteCount].self, forKey: .hostLimits)?
            .mapValues { UInt(clamping: $0.value) }
        maximumWaiting = try values.count(.maximumWaiting).map { Int(clamping: $0) }
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

private struct RateLimitSettings: Decodable, Sendable {
    enum Name: String, CodingKey, CaseIterable { case rates }

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
    private enum Name: String, CodingKey { case requests, cost, seconds, burst }

    let rate: RateLimit.Rate

    init(from decoder: any Decoder) throws {
        let names = try decoder.container(keyedBy: RemoteName.self)
        for name in names.allKeys where Name(stringValue: name.stringValue) == nil {
            throw names.error(name, "a rate has nothing of this name")
        }
        let values = try decoder.container(keyedBy: Name.self)
        guard let period = try values.seconds(.seconds), period > .zero else {
            throw values.error(.seconds, "a rate needs a period, longer than 0")
        }
        let burst = Int(clamping: try values.count(.burst, from: 1) ?? 1)
        switch (try values.count(.requests, from: 1), try values.count(.cost, from: 1)) {
        case (let requests?, nil): rate = .init(requests: Int(clamping: requests), per: period, burst: burst)
        case (nil, let cost?): rate = .init(cost: Int(clamping: cost), per: period, burst: burst)
        default: throw values.error(.requests, "a rate has either requests or a cost")
        }
    }
}

/// A whole number from 0 on.
private struct RemoteCount: Decodable {
    // `Int` has 32 bits on some watches.
    let value: Int64

    init(from decoder: any Decoder) throws {
        // Foundation says that a document with a number outside of an integer's range is no JSON at all.
        let number = try decoder.singleValueContainer().decode(Double.self)
        guard number >= 0, number <= 1e15, number == number.rounded(), let value = Int64(exactly: number) else {
            throw RemoteProblem("\(number) is not a whole number from 0 on", at: decoder.codingPath)
        }
        self.value = value
    }
}

extension KeyedDecodingContainer {
    func count(_ key: Key, from least: Int64 = 0) throws -> Int64? {
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
