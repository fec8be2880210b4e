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
#pragma clang assume_nonnull end
#endif
