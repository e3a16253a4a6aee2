import LoaderChain

/// What users' own loaders do with tasks.
extension Kind {
    static let requests = Kind(name: "requests") { ledger, seed in
        var rig = Rig(
            Rewriter() --> ModifyRequest { $0 } --> Hop() --> Rewriter() --> ChanceTerminal(ledger, seed: seed))
        rig.meddling = 4
        return rig
    }

    static let environment = Kind(name: "environment") { ledger, seed in
        let environments = (0..<4).map { number in
            ServerEnvironment(
                host: "\(number).test", pathPrefix: "/v\(number)", headers: ["X-Environment": "\(number)"])
        }
        var rig = Rig(
            ApplyEnvironment(environment: environments[0]) --> Hop() --> ApplyEnvironment(environment: environments[1])
                --> ApplyEnvironment(environment: environments[2]) --> ChanceTerminal(ledger, seed: seed))
        rig.request = { number, random in
            var request = HTTPRequest(path: "people/\(number % 101)")
            if random.next() % 4 == 0 { request.serverEnvironment = environments[3] }
            return request
        }
        rig.meddling = 2
        return rig
    }

    static let attempts = Kind(name: "attempts") { ledger, seed in
        var rig = Rig(ManyAttempts() --> ChanceTerminal(ledger, seed: seed, failures: 40))
        rig.meddling = 2
        return rig
    }

    static let hedging = Kind(name: "hedging") { ledger, seed in
        var rig = Rig(Hedge() --> Hop() --> ChanceTerminal(ledger, seed: seed))
        rig.meddling = 2
        return rig
    }
}
