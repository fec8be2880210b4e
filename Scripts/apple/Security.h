// What the sources use of Security and the checker's stand-in for it doesn't declare, as Apple documents it.
#ifndef STAND_IN_SECURITY_ADDITIONS
#define STAND_IN_SECURITY_ADDITIONS
#include <stdbool.h>
typedef const struct CF_BRIDGED_TYPE(NSArray) __CFArray *CFArrayRef;
typedef const struct CF_BRIDGED_TYPE(NSData) __CFData *CFDataRef;
typedef const struct CF_BRIDGED_TYPE(NSDictionary) __CFDictionary *CFDictionaryRef;
typedef struct CF_BRIDGED_TYPE(NSError) __CFError *CFErrorRef;
typedef const struct __CFAllocator *CFAllocatorRef;
typedef struct CF_BRIDGED_TYPE(id) __SecCertificate *SecCertificateRef;
typedef struct CF_BRIDGED_TYPE(id) __SecIdentity *SecIdentityRef;
CFTypeID CFGetTypeID(CFTypeRef _Null_unspecified cf);

#pragma clang assume_nonnull begin
_Pragma("clang arc_cf_code_audited begin")
enum { errSecSuccess = 0 };
extern const CFStringRef kSecImportExportPassphrase;
extern const CFStringRef kSecImportItemCertChain;
extern const CFStringRef kSecImportItemIdentity;
CFTypeID SecIdentityGetTypeID(void);
SecCertificateRef _Nullable SecCertificateCreateWithData(CFAllocatorRef _Nullable allocator, CFDataRef data)
    __attribute__((cf_returns_retained));
CFDataRef SecCertificateCopyData(SecCertificateRef certificate) __attribute__((cf_returns_retained));
OSStatus SecTrustSetAnchorCertificates(SecTrustRef trust, CFArrayRef _Nullable anchorCertificates);
// Of type Boolean, which Swift reads as Bool.
OSStatus SecTrustSetAnchorCertificatesOnly(SecTrustRef trust, bool anchorCertificatesOnly);
bool SecTrustEvaluateWithError(SecTrustRef trust, CFErrorRef _Nullable *_Nullable __attribute__((cf_returns_retained)) error)
    API_AVAILABLE(macos(10.14), ios(12.0), tvos(12.0), watchos(5.0));
CFArrayRef _Nullable SecTrustCopyCertificateChain(SecTrustRef trust) __attribute__((cf_returns_retained))
    API_AVAILABLE(macos(12.0), ios(15.0), tvos(15.0), watchos(8.0));
OSStatus SecPKCS12Import(
    CFDataRef pkcs12_data, CFDictionaryRef options, CFArrayRef _Nullable *_Nonnull __attribute__((cf_returns_retained)) items);
_Pragma("clang arc_cf_code_audited end")
#pragma clang assume_nonnull end
#endif
