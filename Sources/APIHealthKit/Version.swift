/// The program's version; nothing else states it.
enum Version {
    static let number = "0.9.0"
}
