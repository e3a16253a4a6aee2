#if os(iOS) || os(tvOS) || os(visionOS)
    import Dispatch
    import Foundation

    extension InfluxWriter {
        /// Flushes each time the app moves to the background, and asks the system for the time that it takes.
        ///
        /// - Parameter limit: how long a flush may take; the system may give less.
        /// - Returns: a value that keeps it going; release it to end it.
        public func flushInBackground(within limit: Duration = .seconds(5)) -> BackgroundFlush {
            BackgroundFlush(self, within: limit)
        }
    }

    /// Flushes a writer each time the app moves to the background, for as long as it is held.
    public final class BackgroundFlush: @unchecked Sendable {
        private let observer: any NSObjectProtocol

        fileprivate init(_ writer: InfluxWriter, within limit: Duration) {
            let name = Notification.Name("UIApplicationDidEnterBackgroundNotification")
            observer = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) {
                [weak writer] _ in
                guard let writer else { return }
                ProcessInfo.processInfo.performExpiringActivity(withReason: "Sends points") { isExpired in
                    // It is called once more when the time is over; the first call then waits no longer than its limit.
                    guard !isExpired else { return }
                    let isDone = DispatchSemaphore(value: 0)
                    Task {
                        await writer.flush(within: limit)
                        isDone.signal()
                    }
                    isDone.wait()
                }
            }
        }

        deinit { NotificationCenter.default.removeObserver(observer) }
    }
#endif
