/// Owns the core of an encoder, and is shared by copies of the encoder until one of them writes.
///
/// It is `Sendable` because nothing writes to a core that has two owners: an encoder makes a copy first, and while a line is
/// being written its encoder is in use by the one who writes.
@usableFromInline
final class LineStorage: @unchecked Sendable {
    // Two accesses cannot overlap: no method of the core calls code of a user's. Checking that at run time makes a line a
    // third to a half slower.
    @exclusivity(unchecked) var core: LineCore

    init(_ core: consuming LineCore) { self.core = core }
}
