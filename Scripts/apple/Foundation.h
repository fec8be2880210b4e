// What the sources use of Foundation and the checker's stand-in for it doesn't declare, as Apple documents it.
#ifndef STAND_IN_FOUNDATION_ADDITIONS
#define STAND_IN_FOUNDATION_ADDITIONS
#pragma clang assume_nonnull begin
extern NSString *const NSURLAuthenticationMethodServerTrust;
extern NSString *const NSURLAuthenticationMethodClientCertificate;
typedef NS_ENUM(NSUInteger, NSURLCredentialPersistence) {
    NSURLCredentialPersistenceNone,
    NSURLCredentialPersistenceForSession,
    NSURLCredentialPersistencePermanent,
    NSURLCredentialPersistenceSynchronizable,
} NS_SWIFT_NAME(URLCredential.Persistence);
@interface NSURLProtectionSpace (Additions)
@property (nullable, readonly) SecTrustRef serverTrust;
@end
@interface NSURLCredential (Additions)
- (instancetype)initWithTrust:(SecTrustRef)trust;
- (instancetype)initWithIdentity:(SecIdentityRef)identity
                    certificates:(nullable NSArray *)certArray
                     persistence:(NSURLCredentialPersistence)persistence;
@end
@interface NSURLSessionConfiguration (Additions)
@property (nullable, readonly, copy) NSString *identifier;
@end
typedef NS_ENUM(NSInteger, NSComparisonResult) {
    NSOrderedAscending = -1L,
    NSOrderedSame,
    NSOrderedDescending,
} NS_SWIFT_NAME(ComparisonResult);
@interface NSNumber (Comparing)
- (NSComparisonResult)compare:(NSNumber *)otherNumber;
@end
@interface NSFileHandle (Positions)
- (instancetype)initWithFileDescriptor:(int)fd closeOnDealloc:(BOOL)closeopt;
+ (nullable instancetype)fileHandleForReadingFromURL:(NSURL *)url error:(NSError **)error NS_SWIFT_NAME(init(forReadingFrom:));
+ (nullable instancetype)fileHandleForUpdatingURL:(NSURL *)url error:(NSError **)error NS_SWIFT_NAME(init(forUpdating:));
- (BOOL)seekToOffset:(unsigned long long)offset error:(out NSError **)error API_AVAILABLE(macos(10.15), ios(13.0), watchos(6.0), tvos(13.0));
- (BOOL)truncateAtOffset:(unsigned long long)offset error:(out NSError **)error API_AVAILABLE(macos(10.15), ios(13.0), watchos(6.0), tvos(13.0));
@end
typedef NS_OPTIONS(NSUInteger, NSJSONWritingOptions) {
    NSJSONWritingPrettyPrinted = 1,
    NSJSONWritingSortedKeys = 2,
    NSJSONWritingFragmentsAllowed = 4,
    NSJSONWritingWithoutEscapingSlashes = 8,
} NS_SWIFT_NAME(JSONSerialization.WritingOptions);
@interface NSJSONSerialization (Additions)
+ (nullable NSData *)dataWithJSONObject:(id)object options:(NSJSONWritingOptions)options error:(NSError **)error;
@end
@class NSURLSessionWebSocketTask;
typedef NS_ENUM(NSInteger, NSURLSessionWebSocketCloseCode) {
    NSURLSessionWebSocketCloseCodeInvalid = 0,
    NSURLSessionWebSocketCloseCodeNormalClosure = 1000,
    NSURLSessionWebSocketCloseCodeGoingAway = 1001,
    NSURLSessionWebSocketCloseCodeProtocolError = 1002,
    NSURLSessionWebSocketCloseCodeUnsupportedData = 1003,
    NSURLSessionWebSocketCloseCodeNoStatusReceived = 1005,
    NSURLSessionWebSocketCloseCodeAbnormalClosure = 1006,
} NS_SWIFT_NAME(URLSessionWebSocketTask.CloseCode) API_AVAILABLE(macos(10.15), ios(13.0), watchos(6.0), tvos(13.0));
NS_SWIFT_SENDABLE NS_SWIFT_NAME(URLSessionWebSocketTask) API_AVAILABLE(macos(10.15), ios(13.0), watchos(6.0), tvos(13.0))
@interface NSURLSessionWebSocketTask : NSURLSessionTask
- (void)sendPingWithPongReceiveHandler:(void (NS_SWIFT_SENDABLE ^)(NSError *_Nullable error))pongReceiveHandler;
- (void)cancelWithCloseCode:(NSURLSessionWebSocketCloseCode)closeCode reason:(nullable NSData *)reason;
@property NSInteger maximumMessageSize;
@property (readonly) NSURLSessionWebSocketCloseCode closeCode;
@property (nullable, readonly, copy) NSData *closeReason;
@end
@interface NSURLSession (WebSockets)
- (NSURLSessionWebSocketTask *)webSocketTaskWithRequest:(NSURLRequest *)request API_AVAILABLE(macos(10.15), ios(13.0), watchos(6.0), tvos(13.0));
@end
NS_SWIFT_SENDABLE NS_SWIFT_NAME(URLSessionWebSocketDelegate) API_AVAILABLE(macos(10.15), ios(13.0), watchos(6.0), tvos(13.0))
@protocol NSURLSessionWebSocketDelegate <NSURLSessionTaskDelegate>
@optional
- (void)URLSession:(NSURLSession *)session webSocketTask:(NSURLSessionWebSocketTask *)webSocketTask didOpenWithProtocol:(nullable NSString *)protocol;
@end
#pragma clang assume_nonnull end
#endif
