#if os(Linux) || os(macOS)
    import Foundation

    /// What sanitizers keep a test from doing.
    public enum Sanitizers {
        /// Whether the tests run under the thread sanitizer.
        public static let watchThreads = has("__tsan_init")
        /// Whether they run under it or under the address sanitizer.
        public static let watch = watchThreads || has("__asan_init")

        private static func has(_ name: String) -> Bool { dlsym(dlopen(nil, RTLD_NOW), name) != nil }
    }
#endif
