#if os(Linux)
    import Glibc
    package import MidstreamCore

    /// The proxies that the environment names just now, chosen as curl does.
    package struct EnvironmentProxies {
        /// The address of the one for `http`; nil: none.
        package let plain: String?
        /// The address of the one for `https`; nil: none.
        package let secure: String?
        /// The hosts that are reached directly.
        package let exceptions: [String]

        /// Reads the capital forms, too, but for `HTTP_PROXY`, which a CGI server sets from a request's field.
        package init() {
            let all = Self.value("all_proxy", "ALL_PROXY")
            plain = Self.value("http_proxy") ?? all
            secure = Self.value("https_proxy", "HTTPS_PROXY") ?? all
            exceptions = (Self.value("no_proxy", "NO_PROXY") ?? "").split { ", \t".contains($0) }.map(String.init)
        }

        /// Why libcurl can't be asked to use them: in a user's password with a `/`, `?` or `#` it would take what stands before that for the
        /// host and the port.
        package var problem: HTTPError? {
            let isMisread = [plain, secure].contains { address in
                address.map { URLText($0.contains("://") ? $0 : "http://\($0)").hasLateUserInfo } == true
            }
            return isMisread ? HTTPError(.proxy, "The address of the proxy isn't one.", phase: .notSent) : nil
        }

        /// Whether requests for `https` reach a host through a tunnel that an HTTP proxy opens. Ranges of addresses aren't looked at.
        package func tunnels(to host: String) -> Bool {
            guard let secure, !secure.lowercased().hasPrefix("socks") else { return false }
            return !exceptions.contains { exception in
                let name = exception.lowercased().drop { $0 == "." }
                return name == "*" || host == name || host.hasSuffix(".\(name)")
            }
        }

        private static func value(_ names: String...) -> String? {
            names.lazy.compactMap { getenv($0).map { String(cString: $0) } }.first { !$0.isEmpty }
        }
    }
#endif
