/// Owns the core of an encoder, and is shared by copies of the encoder until one of them writes.
@usableFromInline
final class LineStorage: @unchecked Sendable {
    // Behind a pointer, so that nothing is checked on the way to it. Nobody writes while there is a second owner.
    let core: UnsafeMutablePointer<LineCore>

    init(_ core: LineCore) {
        self.core = .allocate(capacity: 1)
        self.core.initialize(to: core)
    }

    deinit {
        core.pointee.free()
        core.deinitialize(count: 1)
        core.deallocate()
    }
}
