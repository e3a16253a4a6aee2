import LoaderChainPlatformC

#if !canImport(Network)
    /// The network interfaces of a machine that has no path monitor.
    enum Interfaces {
        /// Whether an interface that leads out of the machine is up and has an address; also if the system does not say.
        static var leadOut: Bool {
            var list: UnsafeMutablePointer<ifaddrs>?
            guard getifaddrs(&list) == 0 else { return true }
            defer { freeifaddrs(list) }
            var next = list
            while let interface = next?.pointee {
                if leadsOut(interface) { return true }
                next = interface.ifa_next
            }
            return false
        }

        private static func leadsOut(_ interface: ifaddrs) -> Bool {
            let flags = CInt(truncatingIfNeeded: interface.ifa_flags)
            let isUp =
                flags & CInt(truncatingIfNeeded: IFF_UP) != 0
                && flags & CInt(truncatingIfNeeded: IFF_RUNNING) != 0
            guard isUp, flags & CInt(truncatingIfNeeded: IFF_LOOPBACK) == 0,
                let address = interface.ifa_addr
            else { return false }
            switch CInt(address.pointee.sa_family) {
            case AF_INET: return true
            case AF_INET6:
                // Every interface that is up gives itself an address of its link, fe80::/10, which leads nowhere.
                return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
                    withUnsafeBytes(of: address.pointee.sin6_addr) { $0[0] != 0xFE || $0[1] & 0xC0 != 0x80 }
                }
            default: return false
            }
        }
    }
#endif
