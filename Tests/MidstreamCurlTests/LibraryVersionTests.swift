#if os(Linux)
    import MidstreamCore
    import TestSupport
    import Testing

    @testable import MidstreamCurl

    @Suite("The libcurl that is loaded", .leavesNothing) struct LibraryVersionTests {
        @Test(arguments: [(0, "0.0.0"), (0x07_51_00, "7.81.0"), (0x07_56_FF, "7.86.255")])
        func `Is refused when it is too old`(version: UInt32, name: String) throws {
            let error = try #require(CurlLibrary.problem(version: version, isInitialized: true))
            #expect(error.code == .unsupported && error.phase == .notSent)
            #expect(error.message == "The libcurl that is loaded is \(name); the transport needs 7.87.0 or newer.")
        }

        @Test(arguments: [0x07_57_00, 0x07_58_01, 0x08_00_00, UInt32.max])
        func `Is used when it is new enough`(version: UInt32) {
            #expect(CurlLibrary.problem(version: version, isInitialized: true) == nil)
        }

        @Test func `Is refused when it can't be initialised`() {
            #expect(CurlLibrary.problem(version: .max, isInitialized: false)?.code == .unsupported)
        }

        @Test func `Here is new enough`() { #expect(CurlLibrary.problem == nil) }
    }
#endif
