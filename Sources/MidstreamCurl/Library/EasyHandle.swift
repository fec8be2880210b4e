#if os(Linux)
    internal import CCurl

    /// One of curl's easy handles, with the memory that its options point into.
    ///
    /// Touched only on the thread of the loop that made it.
    final class EasyHandle {
        private(set) var curl: UnsafeMutableRawPointer
        let errorText: UnsafeMutablePointer<CChar>
        /// What curl's callbacks write.
        let response: UnsafeMutablePointer<ResponseBuffer>
        var fields = FieldList()
        /// What its options are set for.
        private(set) var state = State.untouched
        /// The URL that is set; nil: none.
        private var url: String?
        /// The receiver of curl's callbacks.
        var user: (any HandleUser)?

        enum State: Equatable {
            /// As curl gives it.
            case untouched
            /// For connections of this kind, and such a request, so that the next one like it needs only its URL, fields and body; nil: no
            /// request yet.
            case ready(Shape, RequestKind?)
            /// For a request that has left options behind.
            case spoilt
        }

        init?() {
            guard let curl = curl_easy_init() else { return nil }
            self.curl = curl
            errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
            errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
            response = .allocate(capacity: 1)
            response.initialize(to: ResponseBuffer(self))
        }

        deinit {
            curl_easy_cleanup(curl)
            errorText.deallocate()
            response.pointee.deallocate()
            response.deallocate()
            fields.deallocate()
        }

        /// This object as the context of callbacks. It outlives them, since they are called only while its loop holds it.
        var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

        /// Puts a new one of curl's handles in the place of this one's; false when there is no memory for it.
        func renew() -> Bool {
            guard let fresh = curl_easy_init() else { return false }
            curl_easy_cleanup(curl)
            curl = fresh
            state = .untouched
            url = nil
            return true
        }

        /// Makes it ready for a request. Setting up all options costs a third of a small request, so they are kept for a similar one.
        func prepare(for shape: Shape, _ kind: RequestKind, setUp: (EasyHandle) -> Void) {
            var isReady = false
            if case .ready(shape, let last) = state { isReady = last == nil || last == kind && kind != .other }
            if !isReady {
                if state != .untouched {
                    curl_easy_reset(curl)
                    url = nil
                }
                setUp(self)
            }
            state = .ready(shape, kind)
        }

        /// Makes one that has no options ready for whatever request comes over connections of this kind.
        fileprivate func prepare(for shape: Shape, setUp: (EasyHandle) -> Void) {
            setUp(self)
            state = .ready(shape, nil)
        }

        fileprivate var shape: Shape? { if case .ready(let shape, _) = state { shape } else { nil } }

        /// Has all options be set anew for the next request.
        func spoil() { state = .spoilt }

        func set(_ option: CURLoption, _ value: Int) { _ = ccurl_set_long(curl, option, value) }
        func set(_ option: CURLoption, offset value: Int64) { _ = ccurl_set_offset(curl, option, curl_off_t(value)) }
        func set(_ option: CURLoption, pointer value: UnsafeRawPointer?) { _ = ccurl_set_pointer(curl, option, value) }

        /// Curl keeps a copy of the text.
        func set(_ option: CURLoption, _ text: String?) { _ = ccurl_set_string(curl, option, text) }

        /// Sets the URL, unless it is set already.
        func set(url text: String) {
            guard url != text else { return }
            set(CURLOPT_URL, text)
            url = text
        }

        func long(_ info: CURLINFO) -> Int { ccurl_info_long(curl, info) }
        func offset(_ info: CURLINFO) -> Int64 { Int64(ccurl_info_offset(curl, info)) }
        func string(_ info: CURLINFO) -> String? { ccurl_info_string(curl, info).map { String(cString: $0) } }
    }

    /// What requests differ in as far as their connections go, and the memory for their responses.
    struct Shape: Equatable {
        let isSecure: Bool
        let isStreamed: Bool
    }

    /// The two most frequent kinds of requests, and the rest.
    enum RequestKind { case get, post, other }

    /// The easy handles that wait for the next transfer.
    ///
    /// Touched only on the loop's thread.
    struct HandlePool {
        /// Further ones are freed.
        private static let capacity = 256
        private var waiting: [EasyHandle] = []
        /// Those that can't serve again as they are (``HandleReuse``).
        private var spent: [EasyHandle] = []

        mutating func take() -> EasyHandle? {
            if let handle = waiting.popLast() { return handle }
            while let handle = spent.popLast() {
                if handle.renew() { return handle }
            }
            return EasyHandle()
        }

        /// - Parameter isClean: Whether the last transfer went as it should, so that what the handle keeps of it does no harm.
        mutating func give(back handle: EasyHandle, isClean: Bool) {
            handle.user = nil
            guard waiting.count + spent.count < Self.capacity else { return }
            handle.errorText[0] = 0
            if HandleReuse.isSafe, isClean { waiting.append(handle) } else { spent.append(handle) }
        }

        /// Replaces those that can't serve again, at a time when no request waits. `curl_easy_duphandle` costs no less.
        mutating func renewSpent(setUp: (EasyHandle, Shape) -> Void) {
            while let handle = spent.popLast() {
                // The next request is most likely to be like the last one.
                let shape = handle.shape
                guard handle.renew() else { continue }
                if let shape { handle.prepare(for: shape) { setUp($0, shape) } }
                waiting.append(handle)
            }
        }
    }
#endif
