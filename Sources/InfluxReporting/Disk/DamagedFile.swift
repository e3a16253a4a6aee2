// Disk: blocks in files. It may use Batching and all below it.

/// The files of damaged blocks, which are kept under another name.
///
/// The writer never reads them again. The newest few stay until you have inspected and removed them.
enum DamagedFile {
    /// How many of them are kept.
    static let mostKept = 32

    private static let suffix = ".damaged"

    static func name(of file: BlockFile) -> String { file.name + suffix }

    /// Whether a name is that of a file that was set aside.
    static func isOne(_ name: String) -> Bool {
        name.hasSuffix(suffix) && BlockFile(String(name.dropLast(suffix.count))) != nil
    }

    /// Those of the names whose files are set aside and too many, which are the oldest.
    static func excess(of names: [String]) -> [String] {
        Array(names.filter(isOne).sorted().dropLast(mostKept))
    }
}
