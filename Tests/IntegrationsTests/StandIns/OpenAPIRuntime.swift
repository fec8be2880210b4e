// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// What the examples use of swift-openapi-runtime 1.11, and no more.
public import Foundation
public import HTTPTypes

public final class HTTPBody: AsyncSequence, Sendable {
    public typealias ByteChunk = ArraySlice<UInt8>
    public typealias Element = ByteChunk
    public enum IterationBehavior: Sendable { case single, multiple }
    public enum Length: Sendable {
        case unknown
        case known(Int64)
    }
    public struct Iterator: AsyncIteratorProtocol {
        let step: () async throws -> ByteChunk?
        public mutating func next() async throws -> ByteChunk? { try await step() }
    }
    public let length: Length
    public let iterationBehavior: IterationBehavior
    private let make: @Sendable () -> Iterator

    public init<Bytes: AsyncSequence & Sendable>(_ sequence: Bytes, length: Length, iterationBehavior: IterationBehavior)
    where Bytes.Element == ByteChunk {
        (self.length, self.iterationBehavior) = (length, iterationBehavior)
        make = {
            var iterator = sequence.makeAsyncIterator()
            return Iterator { try await iterator.next() }
        }
    }
    public func makeAsyncIterator() -> Iterator { make() }
}
public protocol ClientTransport: Sendable {
    func send(_ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String) async throws -> (
        HTTPResponse, HTTPBody?
    )
}
