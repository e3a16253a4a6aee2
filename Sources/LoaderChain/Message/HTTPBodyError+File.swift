import DurableFiles
import LoaderChainPlatformC
import LoaderChainPlatformFoundation

extension HTTPBodyError {
    /// A file by its path, as a sentence begins with it.
    static func name(_ url: URL) -> String {
        "The file “\(ASCII.printable(url.path(percentEncoded: false)))”"
    }

    /// The error of a file that cannot be opened or read.
    init(_ url: URL, _ failure: FileFailure) {
        guard !failure.isIrregular else {
            self.init("\(Self.name(url)) is not a regular file; give a file that has a length.")
            return
        }
        let (cause, advice) =
            switch failure.code {
            case ENOENT, ENOTDIR: ("it does not exist", "check the path, and that nothing removed it")
            case EACCES, EPERM: ("permission is denied", "grant this process permission to read it")
            case EMFILE, ENFILE: ("too many files are open", "send fewer bodies at once")
            default: ("system error \(failure.code)", "check the disk that holds it")
            }
        self.init("\(Self.name(url)) cannot be \(failure.action): \(cause); \(advice).")
    }
}
