import LoaderChain

/// A live screen that keys control, and that shows one moment after the other.
final class LivePicture<Moment: Sendable>: Sendable {
    private let screen: LiveScreen
    private let stop: StopSign
    private let key: ScreenKey?
    private let state = Locked((choices: ScreenChoices(), paused: Moment?.none))

    init(_ screen: LiveScreen, stop: StopSign, key: ScreenKey? = nil) {
        self.key = key
        self.screen = screen
        self.stop = stop
    }

    /// Handles the keys that were pressed, and draws a moment, or the one at which the screen was paused.
    func show(_ moment: Moment, _ draw: (Moment, ScreenRoom) -> [StyledLine]) {
        let keys = screen.keys.take()
        let (choices, shown) = state.withLock { state in
            state.choices.take(keys)
            state.paused = state.choices.isPaused ? state.paused ?? moment : nil
            return (state.choices, state.paused ?? moment)
        }
        if choices.wantsEnd { stop.request() }
        if let key { for _ in 0..<key.count(in: keys) { key.press() } }
        var room = screen.room
        room.key = key
        room.choices = choices
        room.isEnding = stop.isRequested
        screen.show(draw(shown, room))
    }

    func end() { screen.end() }
}
