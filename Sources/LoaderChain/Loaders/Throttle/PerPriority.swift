/// One value for each priority, without an array's allocation.
struct PerPriority<Value> {
    var low: Value
    var normal: Value
    var high: Value

    /// The same value for each.
    init(_ value: Value) {
        low = value
        normal = value
        high = value
    }

    subscript(priority: ThrottlePriority) -> Value {
        @inline(__always) get {
            switch priority {
            case .low: low
            case .normal: normal
            case .high: high
            }
        }
        @inline(__always) set {
            switch priority {
            case .low: low = newValue
            case .normal: normal = newValue
            case .high: high = newValue
            }
        }
    }

    /// Changes one of the values where it lies.
    @inline(__always)
    mutating func change<Result>(_ priority: ThrottlePriority, _ change: (inout Value) -> Result) -> Result {
        switch priority {
        case .low: change(&low)
        case .normal: change(&normal)
        case .high: change(&high)
        }
    }

    /// What becomes of each value.
    @inline(__always)
    func map<Result>(_ transform: (Value) -> Result) -> PerPriority<Result> {
        PerPriority<Result>(low: transform(low), normal: transform(normal), high: transform(high))
    }

    @inline(__always)
    init(low: Value, normal: Value, high: Value) {
        self.low = low
        self.normal = normal
        self.high = high
    }
}
