import LoaderChain

/// What carries uploads out while the app does not run: a background `URLSession` on Apple systems.
///
/// It tells ``UploadEngine/ended(_:_:)`` how each upload ended, once, perhaps in a later launch, and
/// ``UploadEngine/eventsAreDelivered()`` when it has told all that happened while the app did not run.
protocol UploadSession: Sendable {
    /// Answers which uploads have not ended, sooner or later and on any thread, and lets those go on that were not begun yet.
    func uploads(_ answer: @escaping @Sendable ([UploadID]) -> Void)

    /// Begins an upload, whose bytes are a file of the engine's directory.
    func start(_ id: UploadID, _ request: EncodedRequest, bodyIn file: String)

    /// Stops an upload, which then ends as cancelled; of one that is over or unknown, nothing is heard.
    func stop(_ id: UploadID)

    /// Ends the session once every upload has ended, and takes no more.
    func finish()
}
