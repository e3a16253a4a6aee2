#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The few things a box does with its directory.
///
/// Everything goes through here, so that a test can count, fail and cut short every single one. Paths are relative to the
/// box's directory, with at most one folder in them. Each call does one thing to the disk, and either has done it or throws.
package protocol FileSystem: Sendable {
    /// Makes a folder, unless it is there.
    func makeFolder(_ path: String) throws(FileFailure)

    /// The file system whose own directory is a folder of this one.
    func folder(_ path: String) throws(FileFailure) -> any FileSystem

    /// The names in a folder, in no order; the empty path is the box's own directory.
    func list(_ folder: String) throws(FileFailure) -> [String]

    /// Makes a new file to write to; a file that is there already is an error.
    func create(_ path: String) throws(FileFailure) -> any OutputFile

    /// Opens a file to read from.
    func open(_ path: String) throws(FileFailure) -> any InputFile

    /// Gives a file another name, in place of a file that may have had it.
    func rename(_ path: String, to newPath: String) throws(FileFailure)

    /// Removes a file; one that is not there is as good as removed.
    func remove(_ path: String) throws(FileFailure)

    /// Brings the names in a folder onto the disk itself.
    func syncFolder(_ folder: String) throws(FileFailure)

    /// Takes the lock of that name until what is returned is let go of, or answers nil where another has it.
    ///
    /// A process that dies loses its locks.
    func lock(_ path: String) throws(FileFailure) -> (any Sendable)?

    /// Where a file can be read by others, or nil where it cannot.
    func url(of path: String) -> URL?
}

/// A new file that is being written.
package protocol OutputFile: AnyObject {
    /// Appends bytes.
    func write(_ bytes: UnsafeRawBufferPointer) throws(FileFailure)

    /// Brings what was written onto the disk itself.
    func sync() throws(FileFailure)

    /// Ends the writing.
    func close() throws(FileFailure)
}

/// A file that is being read.
package protocol InputFile: Sendable {
    /// How many bytes it has.
    var length: Int64 { get }

    /// The bytes from `offset` on, at most `count`: none at the end.
    func read(_ count: Int, at offset: Int64) throws(FileFailure) -> Data
}
