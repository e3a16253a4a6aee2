import LoaderChain
import Steps

// What the guide shows are tests, which run as such.
@main
enum Main {
    static func main() async throws {
        section("A mock")
        let mock = MockLoader().on(.get, "/weather", body: #"{"degrees":21}"#)
        show("\(try await WeatherAPI(terminal: mock).weather(in: "Bern").degrees)")
        section("A terminal that waits for the test")
        section("Time")
        section("A real socket")
        section("A loader of your own")
    }
}
