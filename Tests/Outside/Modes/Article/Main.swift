import Foundation
import LoaderChain

/// Holds its tasks until it is told to complete them.
final class Keeping: HTTPLoader, @unchecked Sendable {
    var kept: [HTTPTask] = []

    override func load(task: HTTPTask) { kept.append(task) }

    func answerFirst() {
        let task = kept.removeFirst()
        task.complete(.success(HTTPResponse(request: task.request, status: .ok)))
    }
}

/// Counts completions, on the only thread of this program.
final class Counter: @unchecked Sendable {
    var completed = 0
    var cancelled = 0
}

@main
enum Main {
    static func main() {
        let throttle = Throttling()
        throttle.maximumNumberOfRequests = 2
        let terminal = Keeping()
        let chain = throttle --> terminal
        let counter = Counter()

        var tasks: [HTTPTask] = []
        for number in 1...5 {
            let request = HTTPRequest(method: .get, host: "example.com", path: "/\(number)")
            tasks.append(
                chain.load(request: request) { result in
                    counter.completed += 1
                    if result.error?.code == .cancelled { counter.cancelled += 1 }
                })
        }
        expect(terminal.kept.count == 2, "the throttle lets two of five through")

        tasks[3].cancel()
        expect(counter.cancelled == 1, "a waiting task that is cancelled completes at once")

        var unlimited = HTTPRequest(method: .get, host: "example.com", path: "/unlimited")
        unlimited.throttling = .never
        chain.load(request: unlimited) { _ in counter.completed += 1 }
        expect(terminal.kept.count == 3, "a request may ask not to be throttled")

        while !terminal.kept.isEmpty { terminal.answerFirst() }
        expect(counter.completed == 6, "everything completes once")
        print("The throttle works here.")
    }

    static func expect(_ condition: Bool, _ sentence: String) {
        guard condition else {
            print("It is not true that \(sentence)")
            exit(1)
        }
    }
}
