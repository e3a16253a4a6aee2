/// The lengths that no server exceeds; ``LineEncoder`` says what they are about.
enum LineLimits {
    static let key = 65_535
    static let string = 65_536
}
