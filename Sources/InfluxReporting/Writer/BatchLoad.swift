// Writer: the writer itself, and the engine that carries out what the state decides. It may use every other folder.

import DurableFiles
import LineProtocol
import LoaderChain
import LoaderChainPlatformFoundation

/// What parcels come to when they are sent as one.
struct BatchLoad: Sendable {
    /// Their lines.
    var batch: LineBatch
    /// The files that hold the lines until all of them are settled.
    var files: [BlockFile] = []
    /// How many points could not be read any more, by reason.
    var lost: [DropReason: Int] = [:]
}

extension WriterEngine {
    /// Copies the lines of parcels into one batch, and lets go of the blocks.
    func assemble(_ parcels: [Parcel<HeldLines>]) -> BatchLoad {
        if parcels.count == 1, case .batch(let batch, let files) = parcels[0].content {
            return BatchLoad(batch: batch, files: files)
        }
        var builder = BatchBuilder(parcels, precision: parcels.first?.precision ?? precision)
        for parcel in parcels {
            switch parcel.content {
            case .block(let block):
                builder.files += parcel.content.files
                block.forEachLine { builder.append($0) }
                shared.withLock { $0.letGo(parcel.content) }
            case .stored(let file):
                do throws(FileFailure) {
                    let batch = try store.read(file)
                    builder.append(batch, expected: parcel.points)
                    builder.files.append(file)
                } catch {
                    // It stays where it is, for the next writer of the directory.
                    builder.lost[.disk, default: 0] += parcel.points
                    listeners.tell(.trouble("\(error)"))
                }
            case .batch(let batch, let files):
                builder.files += files
                builder.append(batch, expected: parcel.points)
            }
        }
        return builder.load
    }
}

/// Puts lines behind each other.
private struct BatchBuilder {
    var files: [BlockFile] = []
    var lost: [DropReason: Int] = [:]
    private var bytes: Data
    private var ends: [Int] = []
    private let precision: Precision

    init(_ parcels: [Parcel<HeldLines>], precision: Precision) {
        self.precision = precision
        bytes = Data(capacity: parcels.reduce(0) { $0 + $1.bytes })
        ends.reserveCapacity(parcels.reduce(0) { $0 + $1.points })
    }

    mutating func append(_ line: UnsafeRawBufferPointer) {
        bytes.append(contentsOf: line)
        ends.append(bytes.count)
    }

    mutating func append(_ batch: LineBatch, expected: Int) {
        for end in batch.ends { ends.append(bytes.count + end) }
        bytes.append(batch.bytes)
        if batch.count < expected { lost[.damaged, default: 0] += expected - batch.count }
    }

    /// The blocks hold whole lines, so there always is a batch of them.
    var load: BatchLoad {
        let batch = LineBatch(bytes: bytes, ends: ends, precision: precision) ?? LineBatch(precision: precision)
        return BatchLoad(batch: batch, files: files, lost: lost)
    }
}
