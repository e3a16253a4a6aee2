import DurableFiles
import LoaderChain
import LoaderChainPlatformC
import LoaderChainPlatformFoundation

/// Makes a request of a file on the disk.
extension BoxEngine {
    enum Preparation {
        case request(HTTPRequest)
        /// There is nothing that could be sent.
        case loss(BoxState.Fate)
        /// The disk does not answer; it may later.
        case trouble(FileFailure)
    }

    func prepare(_ name: RecordName) -> Preparation {
        let preparation = read(name)
        guard case .request(var request) = preparation else { return preparation }
        settings.describe(name, in: &request)
        addDiscards(to: &request, of: name)
        return .request(request)
    }

    private func read(_ name: RecordName) -> Preparation {
        let head: RecordHead
        let body: StoredBody
        do throws(RecordProblem) {
            (head, body) = try store.read(name.text)
        } catch {
            switch error {
            case .damaged: return .loss(.setAside(.damaged))
            case .sealed: return .loss(.setAside(.sealed))
            case .missing(let failure):
                if failure.isWithoutDirectory { trouble(failure) }
                return .loss(.dropped(.missingFile))
            case .failure(let failure): return .trouble(failure)
            }
        }
        // The content must be that of the report in the file's name.
        guard head.id == name.id, body.length == name.size else { return .loss(.setAside(.damaged)) }
        guard name.flags.contains(.keptOutside) else { return .request(head.request(body: body)) }
        guard let url = settings.locations?.location(of: name.id) else { return .loss(.dropped(.missingFile)) }
        guard let slice = try? FileSlice(url) else {
            let path = url.path(percentEncoded: false)
            guard FileManager.default.fileExists(atPath: path) else { return .loss(.dropped(.missingFile)) }
            return .trouble(FileFailure("read", path, code: EACCES))
        }
        guard slice.length == name.size else { return .loss(.setAside(.damaged)) }
        return .request(head.request(body: KeptBody(slice: slice)))
    }
}

extension OutboxSettings {
    /// Adds to the request of an attempt what its headers say of the report.
    fileprivate func describe(_ name: RecordName, in request: inout HTTPRequest) {
        if let attemptHeader { request.headers[attemptHeader] = "\(name.attempts)" }
        let networks = networks(for: name.priority)
        if networks != .all { request.networkAccess = networks }
        if let submittedHeader { request.headers[submittedHeader] = HTTPDate.text(name.submitted) }
    }
}

/// The bytes of a file that the app keeps.
private struct KeptBody: HTTPBody {
    let slice: FileSlice
    var isEmpty: Bool { slice.length == 0 }
    func encode() -> HTTPBodyContent { HTTPBodyContent(segments: [.file(slice)]) }
}
