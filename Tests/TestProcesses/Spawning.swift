#if os(Linux) || os(macOS)
    import Foundation

    #if canImport(Darwin)
        private typealias FileActions = posix_spawn_file_actions_t?
        private typealias Attributes = posix_spawnattr_t?
    #else
        private typealias FileActions = posix_spawn_file_actions_t
        private typealias Attributes = posix_spawnattr_t
    #endif

    enum Spawning {
        /// Starts a program with these as its first descriptors.
        static func start(
            _ program: String, _ arguments: [String], in directory: String?, environment: [String: String],
            descriptors: [CInt]
        ) throws -> pid_t {
            #if canImport(Darwin)
                var (actions, attributes): (FileActions, Attributes) = (nil, nil)
            #else
                var (actions, attributes) = (FileActions(), Attributes())
            #endif
            posix_spawn_file_actions_init(&actions)
            defer { posix_spawn_file_actions_destroy(&actions) }
            posix_spawnattr_init(&attributes)
            defer { posix_spawnattr_destroy(&attributes) }
            for (target, source) in descriptors.enumerated() {
                posix_spawn_file_actions_adddup2(&actions, source, CInt(target))
            }
            // The connections of other tests would stay open for as long as the program runs: libcurl's are inherited.
            #if canImport(Darwin)
                let closesTheRest = POSIX_SPAWN_CLOEXEC_DEFAULT
            #else
                let closesTheRest: Int32 = 0
                _ = closeFrom?(&actions, CInt(descriptors.count))
            #endif

            // A test's threads block signals, and the program must start with no signal blocked or ignored.
            var (blocked, reset) = (sigset_t(), sigset_t())
            sigemptyset(&blocked)
            sigfillset(&reset)
            posix_spawnattr_setsigmask(&attributes, &blocked)
            posix_spawnattr_setsigdefault(&attributes, &reset)
            posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | closesTheRest))

            var number: pid_t = 0
            // A shell changes the directory and then becomes the program, since not every system has a spawn attribute for it.
            let words =
                directory.map { ["/bin/sh", "-c", #"cd "$0" && exec "$@""#, $0, program] + arguments }
                ?? [program] + arguments
            let code = withStrings(words) { arguments in
                withStrings(environment.map { "\($0)=\($1)" }) { environment in
                    posix_spawn(&number, words[0], &actions, &attributes, arguments, environment)
                }
            }
            guard code == 0 else {
                throw POSIXError(
                    POSIXErrorCode(rawValue: code) ?? .EIO, userInfo: [NSFilePathErrorKey: program])
            }
            return number
        }

        #if !canImport(Darwin)
            private typealias CloseFrom =
                @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, CInt) -> CInt

            /// Closes all descriptors from a number on; nil before glibc 2.34.
            ///
            /// Swift has no name for it.
            private static let closeFrom: CloseFrom? = {
                let symbol = dlsym(dlopen(nil, RTLD_NOW), "posix_spawn_file_actions_addclosefrom_np")
                return symbol.map { unsafeBitCast($0, to: CloseFrom.self) }
            }()
        #endif

        /// Passes C strings, terminated by nil.
        private static func withStrings<Answer>(
            _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Answer
        ) -> Answer {
            let copies = strings.map { strdup($0) } + [nil]
            defer { for copy in copies { free(copy) } }
            return body(copies)
        }
    }
#endif
