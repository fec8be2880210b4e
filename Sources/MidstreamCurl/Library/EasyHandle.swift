#if Curl && os(Linux)
    internal import CCurl

    /// One of curl's easy handles, with the memory that its options point into.
    ///
    /// Touched only on the thread of the loop that made it.
    final class EasyHandle {
        private(set) var curl: UnsafeMutableRawPointer
        let errorText: UnsafeMutablePointer<CChar>
        var fields = FieldList()
        /// How the options are set, when the next request of the same shape needs only its URL, fields and body; nil: they have to
        /// be set anew.
        var shape: Shape?
        /// What the handle is in use for. Curl's callbacks find it through the handle, which they are given.
        var user: (any HandleUser)?

        init?() {
            guard let curl = curl_easy_init() else { return nil }
            self.curl = curl
            errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
            errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        }

        deinit {
            curl_easy_cleanup(curl)
            errorText.deallocate()
            fields.deallocate()
        }

        /// This object as the context of callbacks. It outlives them, since they are called only while its loop holds it.
        var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

        /// Puts a new one of curl's handles in the place of this one's; false when there is no memory for it.
        func renew() -> Bool {
            guard let fresh = curl_easy_init() else { return false }
            curl_easy_cleanup(curl)
            curl = fresh
            shape = nil
            return true
        }

        /// Undoes all options.
        func reset() {
            curl_easy_reset(curl)
            shape = nil
        }

        func set(_ option: CURLoption, _ value: Int) { _ = ccurl_set_long(curl, option, value) }
        func set(_ option: CURLoption, offset value: Int64) { _ = ccurl_set_offset(curl, option, curl_off_t(value)) }
        func set(_ option: CURLoption, pointer value: UnsafeRawPointer?) { _ = ccurl_set_pointer(curl, option, value) }

        /// Curl keeps a copy of the text.
        func set(_ option: CURLoption, _ text: String?) {
            if let text {
                _ = text.withCString { ccurl_set_string(curl, option, $0) }
            } else {
                _ = ccurl_set_string(curl, option, nil)
            }
        }

        func long(_ info: CURLINFO) -> Int { ccurl_info_long(curl, info) }
        func offset(_ info: CURLINFO) -> Int64 { Int64(ccurl_info_offset(curl, info)) }
        func string(_ info: CURLINFO) -> String? { ccurl_info_string(curl, info).map { String(cString: $0) } }
    }

    /// What the two most frequent kinds of requests differ in. Setting all options anew costs a third of a small request.
    struct Shape: Equatable {
        enum Kind { case get, post }

        let kind: Kind
        let isSecure: Bool
        let isStreamed: Bool
    }

    /// The easy handles that wait for the next transfer.
    ///
    /// Touched only on the loop's thread.
    struct HandlePool {
        /// Beyond this many waiting ones they are freed: a burst leaves no mountain behind.
        private static let capacity = 256
        private var waiting: [EasyHandle] = []

        mutating func take() -> EasyHandle? { waiting.popLast() ?? EasyHandle() }

        /// - Parameter isClean: Whether the last transfer went as it should, so that the options may be kept.
        mutating func give(back handle: EasyHandle, isClean: Bool) {
            handle.user = nil
            guard waiting.count < Self.capacity else { return }
            if CurlLibrary.handlesServeOnce {
                guard handle.renew() else { return }
            } else if !isClean {
                handle.shape = nil
            }
            handle.errorText[0] = 0
            waiting.append(handle)
        }
    }
#endif
