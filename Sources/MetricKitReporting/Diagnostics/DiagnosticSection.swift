/// The kinds of diagnostics that payloads have sections of.
enum DiagnosticSection: String, CaseIterable {
    case crash = "crashDiagnostics"
    case hang = "hangDiagnostics"
    case cpuException = "cpuExceptionDiagnostics"
    case diskWriteException = "diskWriteExceptionDiagnostics"
    case appLaunch = "appLaunchDiagnostics"

    /// The name of the kind in reports of iOS 27.
    init?(result: String) {
        self.init(rawValue: result + "Diagnostics")
    }

    func details(_ reader: inout SectionReader) -> DiagnosticDetails {
        switch self {
        case .crash: .crash(CrashDetails(&reader))
        case .hang: .hang(HangDetails(&reader))
        case .cpuException: .cpuException(CPUExceptionDetails(&reader))
        case .diskWriteException: .diskWriteException(DiskWriteDetails(&reader))
        case .appLaunch: .appLaunch(AppLaunchDetails(&reader))
        }
    }
}
