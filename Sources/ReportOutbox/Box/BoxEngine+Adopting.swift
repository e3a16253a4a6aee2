// Box: the outbox itself, and the engine that carries out what its state decides. It may use every other folder but Apple.

import DurableFiles
import LoaderChain
import LoaderChainPlatformFoundation

/// Takes over the boxes that other processes had within the directory.
extension BoxEngine {
    /// Takes over the reports of a box whose owner has ended, those that were set aside among them.
    ///
    /// They keep everything but their place in the order. One whose identifier is here already stays where it is, until that
    /// has left.
    func adopt(_ box: String) {
        do throws(FileFailure) {
            guard let lock = try store.files.lock(box + "/" + ReportStore.lockName) else { return }
            defer { withExtendedLifetime(lock) {} }
            let own = ReportStore(
                files: try store.files.folder(box), durability: settings.durability, seal: settings.seal)
            let scan = try own.scan()
            for name in scan.reports { try adopt(name, of: box) }
            if scan.hasDiscards {
                readDiscards(of: own)
                try own.writeDiscards(Data())
            }
            if !scan.aside.isEmpty { try store.files.makeFolder(ReportStore.asideFolder) }
            for aside in scan.aside {
                var adopted = aside
                adopted.name.sequence = nextSequence()
                try store.files.rename(box + "/" + aside.path, to: adopted.path)
                quarantine(adopted)
            }
        } catch {
            trouble(error)
        }
    }

    private func adopt(_ name: RecordName, of box: String) throws(FileFailure) {
        guard shared.withLock({ $0.box.handle(of: name.id) == nil }) else { return }
        var adopted = name
        adopted.sequence = nextSequence()
        try store.files.rename(box + "/" + name.text, to: adopted.text)
        let now = now
        shared.withLock { [adopted] shared in
            let time = shared.time(now)
            shared.box.take(adopted, wallNow: now.wall, now: time)
        }
    }

    private func nextSequence() -> UInt64 {
        shared.withLock { shared in
            defer { shared.box.nextSequence += 1 }
            return shared.box.nextSequence
        }
    }
}
