
@available(macOS 10.15, iOS 13.0, watchOS 6.0, tvOS 13.0, *)
public struct SHA512Digest: Digest {
    public static var byteCount: Int { 64 }
    public func makeIterator() -> Array<UInt8>.Iterator { fatalError() }
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R { fatalError() }
    public var description: String { fatalError() }
}
@available(macOS 10.15, iOS 13.0, watchOS 6.0, tvOS 13.0, *)
public struct SHA512: HashFunction {
    public typealias Digest = SHA512Digest
    public static var byteCount: Int { 64 }
    public static var blockByteCount: Int { 128 }
    public init() {}
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
    public func finalize() -> SHA512Digest { fatalError() }
}
@available(macOS 10.15, iOS 13.0, watchOS 6.0, tvOS 13.0, *)
public enum AES {
    public enum GCM {
        public struct Nonce: Sendable {
            public init() { fatalError() }
        }
        public struct SealedBox: Sendable {
            public var combined: Data? { fatalError() }
            public init<D>(combined: D) throws where D: DataProtocol { fatalError() }
        }
        public static func seal<Plaintext, AuthenticatedData>(
            _ message: Plaintext, using key: SymmetricKey, nonce: Nonce? = nil, authenticating authenticatedData: AuthenticatedData
        ) throws -> SealedBox where Plaintext: DataProtocol, AuthenticatedData: DataProtocol { fatalError() }
        public static func open<AuthenticatedData>(
            _ sealedBox: SealedBox, using key: SymmetricKey, authenticating authenticatedData: AuthenticatedData
        ) throws -> Data where AuthenticatedData: DataProtocol { fatalError() }
    }
}
