extension Authorizer {
    var details: String {
        let waiting = waiting
        return phase.name + (waiting == 0 ? "" : ", waiting \(waiting)")
    }
}

extension CredentialState.Phase {
    var name: String {
        switch self {
        case .idle: "idle"
        case .authorizing: "authorizing"
        case .authorized: "authorized"
        case .expired: "expired"
        case .resetting: "resetting"
        }
    }
}
