import ReportOutbox

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The few things a journal does with its directory.
///
/// Everything goes through here, so that a test can count, fail and cut short every single one.
protocol JournalDisk: Sendable {
    /// The names in the directory, in no order.
    func list() throws(FileFailure) -> [String]

    /// Makes a new file to write to; a file that is there already is an error.
    func make(_ name: String) throws(FileFailure) -> any JournalFile

    /// The bytes of a file.
    func read(_ name: String) throws(FileFailure) -> Data

    /// Gives a file another name, in place of a file that has it.
    func rename(_ name: String, to newName: String) throws(FileFailure)

    /// Removes a file; one that is not there is as good as removed.
    func remove(_ name: String) throws(FileFailure)

    /// Brings what was written to a file onto the disk itself; one that is not there needs it no more.
    func sync(_ name: String) throws(FileFailure)

    /// Brings the names in the directory onto the disk itself.
    func syncFolder() throws(FileFailure)

    /// Takes the lock of the directory until what is returned is let go of, or answers nil where another has it.
    func lock() throws(FileFailure) -> (any Sendable)?
}

/// A file that several threads write to, each at places of its own.
protocol JournalFile: AnyObject, Sendable {
    /// Writes bytes at a place.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(FileFailure)

    /// Brings what was written onto the disk itself.
    func sync() throws(FileFailure)
}
