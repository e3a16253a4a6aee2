import DurableFiles
import LoaderChain
import LoaderChainPlatformFoundation

/// Tells servers what never arrived.
extension BoxEngine {
    /// Counts a report that is gone without having arrived.
    func note(discarded name: RecordName, because loss: ReportLoss) {
        guard settings.discardedHeader != nil, loss.isDiscard else { return }
        shared.withLock { $0.discards.note(loss.name, name.kind, for: name.destination) }
    }

    /// Counts a report that was not taken in.
    func note(refused head: RecordHead, _ kind: ReportKind, because error: OutboxError) {
        guard settings.discardedHeader != nil, let reason = error.code.discardReason else { return }
        shared.withLock { $0.discards.note(reason, kind, for: head.destination) }
    }

    /// Adds to the request of an attempt what its server has not been told.
    func addDiscards(to request: inout HTTPRequest, of name: RecordName) {
        guard let header = settings.discardedHeader else { return }
        let text = shared.withLock { $0.discards.take(for: name.destination, by: name.sequence) }
        if let text { request.headers[header] = text }
    }

    /// Takes up what was written down in a directory.
    func readDiscards(of store: ReportStore) {
        do throws(FileFailure) {
            let bytes = try store.readDiscards()
            guard shared.withLock({ $0.discards.add(bytes) }) else {
                return emit(.trouble("The counts of discarded reports are damaged, and begin anew."))
            }
        } catch {
            trouble(error)
        }
    }

    /// Writes the counts down if they have changed.
    func saveDiscards() {
        guard let bytes = shared.withLock({ $0.discards.takeChange() }) else { return }
        do throws(FileFailure) {
            try store.writeDiscards(bytes)
        } catch {
            shared.withLock { $0.discards.wasNotWritten() }
            trouble(error)
        }
    }
}
