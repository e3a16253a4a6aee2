/// The tasks of one host: those that run, by number, and those that wait, in their order.
final class ThrottleHost {
    let name: String
    var running: UInt = 0
    var waiting = 0
    var lists = PerPriority(WaiterList())
    /// Where the host stands in the heap of each priority.
    var positions = PerPriority<Int?>(nil)

    init(_ name: String) { self.name = name }

    /// Whether nothing is known of the host that would be missed.
    var isIdle: Bool { running == 0 && waiting == 0 }
}
