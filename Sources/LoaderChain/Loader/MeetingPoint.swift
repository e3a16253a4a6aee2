/// The end of a composite's branches, from which tasks go on to the loader after the composite.
///
/// A loader that leads tasks down chains of its own ends each of them here, so that they return to the chain that the
/// loader is part of:
///
/// ```swift
/// final class OnlyWithABody: HTTPLoader, @unchecked Sendable {
///     private let branch: HTTPLoader
///     private let end = MeetingPoint(of: "OnlyWithABody")
///
///     init(_ branch: HTTPLoader) {
///         self.branch = branch --> end
///         super.init()
///     }
///
///     override var branches: [HTTPLoader] { [branch] }
///     override var details: String { branch.description(before: end) }
///     override func didLink(to next: HTTPLoader) { end.nextLoader = next }
///
///     override func load(task: HTTPTask) {
///         guard !task.request.body.isEmpty else { return super.load(task: task) }
///         if branch.accept(task) { branch.load(task: task) }
///     }
/// }
/// ```
///
/// ``Choose`` is such a loader. The composite links the meeting point in ``HTTPLoader/didLink(to:)``. It cannot pass
/// tasks back to itself instead: a branch that refers to its composite would be a circle.
public final class MeetingPoint: HTTPLoader, @unchecked Sendable {
    private let composite: String

    /// Makes the end of the branches of a composite, under whose name it passes tasks on.
    public init(of composite: String) {
        self.composite = composite
        super.init()
    }

    /// The name of the composite, which errors are to show.
    public override var name: String { composite }
}
