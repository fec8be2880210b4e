#if os(Linux)
    internal import CNghttp2
    import Glibc

    /// The frames of one connection (RFC 9113), by nghttp2.
    final class HTTP2Session {
        enum Reading {
            case bytes(Int)
            /// There are none now.
            case later
            /// The last ones, with the trailers after them.
            case end(Int, trailers: HTTP2Fields?)
        }

        /// How much may come of a stream before its reader takes any: 1 MiB.
        static let streamWindow: Int32 = 1 << 20
        /// How much may come before any is dealt with: 16 MiB.
        static let connectionWindow: Int32 = 16 << 20

        /// The largest head of a request that is submitted, and the largest trailers, as ``HTTP2Fields/largestSize`` counts: 1 MiB.
        static let largestRequestHead = 1 << 20

        private let session: OpaquePointer
        fileprivate unowned let owner: HTTP2Connection

        /// Nil for want of memory.
        init?(owner: HTTP2Connection) {
            self.owner = owner
            var (callbacks, options, made): (OpaquePointer?, OpaquePointer?, OpaquePointer?)
            guard nghttp2_session_callbacks_new(&callbacks) == 0, nghttp2_option_new(&options) == 0 else { return nil }
            defer {
                nghttp2_session_callbacks_del(callbacks)
                nghttp2_option_del(options)
            }
            HTTP2Callbacks.install(in: callbacks)
            nghttp2_option_set_no_auto_window_update(options, 1)
            nghttp2_option_set_no_closed_streams(options, 1)
            midstream_take_space_around_values(options)
            // nghttp2 counts a few bytes besides, and what it refuses looks as if the server had refused it.
            nghttp2_option_set_max_send_header_block_length(options, Self.largestRequestHead + 64)
            // nghttp2 reports frames of unknown types only if they are registered.
            for kind in UInt8(10)...UInt8.max { nghttp2_option_set_user_recv_extension_type(options, kind) }
            guard nghttp2_session_client_new2(&made, callbacks, nil, options) == 0, let made else { return nil }
            session = made
            nghttp2_session_set_user_data(made, Unmanaged.passUnretained(self).toOpaque())
            let settings = [
                nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0),
                nghttp2_settings_entry(
                    settings_id: Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue), value: UInt32(Self.streamWindow)),
            ]
            nghttp2_submit_settings(made, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count)
            nghttp2_session_set_local_window_size(made, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, Self.connectionWindow)
        }

        deinit { nghttp2_session_del(session) }

        // MARK: Requests

        /// Begins a stream; nil when the connection takes no further ones.
        func submit(_ fields: HTTP2Fields, hasBody: Bool) -> Int32? {
            let stream = fields.withValues { values in
                guard hasBody else { return nghttp2_submit_request(session, nil, values.baseAddress, values.count, nil, nil) }
                var provider = HTTP2Callbacks.provider
                return nghttp2_submit_request(session, nil, values.baseAddress, values.count, &provider, nil)
            }
            return stream > 0 ? stream : nil
        }

        /// Whether a stream is open: its request no longer waits to be sent.
        func hasOpened(stream: Int32) -> Bool { nghttp2_session_get_stream_remote_close(session, stream) >= 0 }

        /// Goes on with a body of which there was nothing more.
        func resume(stream: Int32) { nghttp2_session_resume_data(session, stream) }

        func reset(stream: Int32, _ code: HTTP2ErrorCode) {
            nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, code.rawValue)
        }

        fileprivate func submitTrailers(_ fields: HTTP2Fields, ofStream stream: Int32) {
            _ = fields.withValues { nghttp2_submit_trailer(session, stream, $0.baseAddress, $0.count) }
        }

        /// How many streams the server takes at a time; 100 before it has told.
        var streamLimit: Int {
            Int(nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
        }

        /// Asks the server for an answer (RFC 9113 §6.7).
        func ping() { nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil) }

        /// Says that the connection is ended.
        func end(_ code: HTTP2ErrorCode) { nghttp2_session_terminate_session(session, code.rawValue) }

        // MARK: Windows

        /// Lets the server send as much again on the connection.
        func consumeConnection(_ count: Int) { nghttp2_session_consume_connection(session, count) }

        /// Lets the server send as much again on a stream.
        func consume(_ count: Int, ofStream stream: Int32) { nghttp2_session_consume_stream(session, stream, count) }

        // MARK: Bytes

        /// Takes what has been received; false when the session can't go on.
        func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
            let count = nghttp2_session_mem_recv(session, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count)
            return count >= 0
        }

        /// Adds what is to be sent, until there is so much.
        func takeOutput(into bytes: inout [UInt8], limit: Int) {
            while bytes.count < limit {
                var data: UnsafePointer<UInt8>?
                let count = nghttp2_session_mem_send(session, &data)
                guard count > 0 else { return }
                bytes.append(contentsOf: UnsafeBufferPointer(start: data, count: count))
            }
        }

        /// Whether nothing is to be sent or received any more.
        var isOver: Bool { nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0 }
    }

    /// What nghttp2 calls.
    private enum HTTP2Callbacks {
        static func install(in callbacks: OpaquePointer?) {
            nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks) { _, head, context in
                if let head = head?.pointee {
                    HTTP2Callbacks.owner(context)?.willReceive(
                        frame: head.type, length: head.length, isLast: head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0,
                        ofStream: head.stream_id)
                }
                return 0
            }
            nghttp2_session_callbacks_set_on_header_callback(callbacks) {
                _, _, name, nameLength, value, valueLength, _, context in
                let isTaken = HTTP2Callbacks.owner(context)?.receive(
                    field: UnsafeBufferPointer(start: name, count: nameLength),
                    UnsafeBufferPointer(start: value, count: valueLength))
                return isTaken == false ? HTTP2Callbacks.stopsStream : 0
            }
            // Without it such a field would be left out, and the rest be taken for the whole. nghttp2 asks for fields without control
            // characters, and for names that are tokens.
            nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks) {
                _, frame, name, nameLength, value, valueLength, _, context in
                let owner = HTTP2Callbacks.owner(context)
                let nameBytes = UnsafeBufferPointer(start: name, count: nameLength)
                let valueBytes = UnsafeBufferPointer(start: value, count: valueLength)
                if HTTP2Callbacks.mayStand(nameBytes, valueBytes) {
                    return owner?.receive(field: nameBytes, valueBytes) == false ? HTTP2Callbacks.stopsStream : 0
                }
                if let stream = frame?.pointee.hd.stream_id { owner?.streams[stream]?.isViolated = true }
                return HTTP2Callbacks.stopsStream
            }
            nghttp2_session_callbacks_set_error_callback2(callbacks) { _, code, message, length, context in
                if code == NGHTTP2_ERR_HTTP_HEADER.rawValue, let owner = HTTP2Callbacks.owner(context),
                    let (stream, name) = HTTP2Callbacks.refusedField(in: UnsafeBufferPointer(start: message, count: length))
                {
                    owner.streams[stream]?.refusedField = name
                }
                return 0
            }
            nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks) { _, frame, _, context in
                if let stream = frame?.pointee.hd.stream_id {
                    HTTP2Callbacks.owner(context)?.streams[stream]?.isViolated = true
                }
                return 0
            }
            // Such a frame has been counted when it began, and is ignored (RFC 9113 §5.5).
            nghttp2_session_callbacks_set_unpack_extension_callback(callbacks) { _, _, _, _ in HTTP2Callbacks.ignoresFrame }
            nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, context in
                if let frame, let owner = HTTP2Callbacks.owner(context) { HTTP2Callbacks.received(frame, owner) }
                return 0
            }
            nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, stream, data, count, context in
                HTTP2Callbacks.owner(context)?.receive(data: UnsafeRawBufferPointer(start: data, count: count), ofStream: stream)
                return 0
            }
            nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, code, context in
                HTTP2Callbacks.owner(context)?.didClose(stream: stream, HTTP2ErrorCode(rawValue: code))
                return 0
            }
            nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, context in
                if let frame, let owner = HTTP2Callbacks.owner(context) { HTTP2Callbacks.sent(frame.pointee, owner) }
                return 0
            }
        }

        private static let stopsStream = Int32(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
        private static let ignoresFrame = Int32(NGHTTP2_ERR_CANCEL.rawValue)

        private static func session(_ context: UnsafeMutableRawPointer?) -> HTTP2Session? {
            context.map { Unmanaged<HTTP2Session>.fromOpaque($0).takeUnretainedValue() }
        }

        private static func owner(_ context: UnsafeMutableRawPointer?) -> HTTP2Connection? { session(context)?.owner }

        /// Whether a field isn't one that makes a message malformed (RFC 9113 §8.2.1), white space around its value apart.
        private static func mayStand(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> Bool {
            !name.isEmpty && name.allSatisfy { 33...126 ~= $0 && $0 != 58 && !(65...90 ~= $0) }
                && value.allSatisfy { $0 != 0 && $0 != 10 && $0 != 13 }
        }

        /// Which field makes a message malformed: nghttp2 tells it in words alone, `…, stream: 1, name: [upgrade], value: [h2c]`.
        private static func refusedField(in message: UnsafeBufferPointer<CChar>) -> (stream: Int32, name: String)? {
            let words = String(decoding: UnsafeRawBufferPointer(message), as: UTF8.self).split { ",:[] ".contains($0) }
            guard let place = words.firstIndex(of: "stream"), words.count > place + 4, words[place + 2] == "name",
                words[place + 4] == "value",
                let stream = Int32(words[place + 1]), words[place + 3].utf8.allSatisfy({ 33...126 ~= $0 })
            else { return nil }
            return (stream, String(words[place + 3].prefix(100)))
        }

        private static func received(_ frame: UnsafePointer<nghttp2_frame>, _ owner: HTTP2Connection) {
            let head = frame.pointee.hd
            let endsStream = head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
            switch UInt32(head.type) {
            case NGHTTP2_HEADERS.rawValue: owner.receiveEndOfFields(endsStream: endsStream)
            case NGHTTP2_DATA.rawValue where endsStream: owner.streams[head.stream_id]?.receiveEnd()
            case NGHTTP2_RST_STREAM.rawValue: owner.streams[head.stream_id]?.isReset = true
            case NGHTTP2_SETTINGS.rawValue: owner.didReceiveSettings()
            case NGHTTP2_GOAWAY.rawValue:
                owner.didReceiveGoAway(HTTP2ErrorCode(rawValue: frame.pointee.goaway.error_code))
            default: break
            }
        }

        private static func sent(_ frame: nghttp2_frame, _ owner: HTTP2Connection) {
            if UInt32(frame.hd.type) == NGHTTP2_GOAWAY.rawValue {
                return owner.didSendGoAway(HTTP2ErrorCode(rawValue: frame.goaway.error_code))
            }
            owner.didSend(
                frame: frame.hd.type, length: frame.hd.length,
                isLast: frame.hd.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0, ofStream: frame.hd.stream_id)
        }

        /// Reads a request's body.
        static var provider: nghttp2_data_provider {
            nghttp2_data_provider(source: nghttp2_data_source()) { _, stream, buffer, length, flags, _, context in
                guard let session = HTTP2Callbacks.session(context), let buffer, let flags else {
                    return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)
                }
                let room = UnsafeMutableRawBufferPointer(start: buffer, count: length)
                switch session.owner.streams[stream]?.read(into: room) ?? .end(0, trailers: nil) {
                case .bytes(let count): return count
                case .later: return Int(NGHTTP2_ERR_DEFERRED.rawValue)
                case .end(let count, let trailers):
                    flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue
                    if let trailers {
                        flags.pointee |= NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue
                        session.submitTrailers(trailers, ofStream: stream)
                    }
                    return count
                }
            }
        }
    }
#endif
