#ifndef MIDSTREAM_CCRYPTO_H
#define MIDSTREAM_CCRYPTO_H

// libcrypto's hash functions and AES-256-GCM, found by its sonames, which stand for the interface declared here. So neither headers nor packages are
// needed to build, and a machine without the library lacks only digests.

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

/// As long as the longest hash (`EVP_MAX_MD_SIZE`).
#define CCRYPTO_LONGEST_HASH 64

/// `OPENSSL_INIT_NO_ATEXIT`.
#define CCRYPTO_WITHOUT_EXIT_HANDLER 0x00080000

/// Finds a function of `library`; false when it isn't there.
#define CCRYPTO_FIND(function, name) ((*(void **)&(function) = dlsym(library, name)) != NULL)

/// NULL when libcrypto isn't there.
static inline void *ccrypto_open(void) {
    static const char *const names[] = {"libcrypto.so.3", "libcrypto.so.4", "libcrypto.so.1.1"};
    for (int i = 0; i < 3; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (library == NULL) continue;
        // OpenSSL would free its state when the process ends, while other threads may be using it. Without effect once it is in use.
        int (*initialize)(uint64_t options, const void *settings);
        if (CCRYPTO_FIND(initialize, "OPENSSL_init_crypto")) initialize(CCRYPTO_WITHOUT_EXIT_HANDLER, NULL);
        return library;
    }
    return NULL;
}

typedef struct {
    void *(*create)(void);
    void (*free)(void *context);
    int (*begin)(void *context, const void *function, void *engine);
    int (*update)(void *context, const void *bytes, size_t count);
    int (*finish)(void *context, uint8_t *hash, unsigned int *length);
    const void *(*md5)(void);
    const void *(*sha256)(void);
    const void *(*sha512)(void);
} ccrypto_library;

/// NULL when libcrypto isn't there.
static inline const ccrypto_library *ccrypto_find(void) {
    static ccrypto_library found;
    void *library = ccrypto_open();
    return library != NULL && CCRYPTO_FIND(found.create, "EVP_MD_CTX_new") && CCRYPTO_FIND(found.free, "EVP_MD_CTX_free")
        && CCRYPTO_FIND(found.begin, "EVP_DigestInit_ex") && CCRYPTO_FIND(found.update, "EVP_DigestUpdate")
        && CCRYPTO_FIND(found.finish, "EVP_DigestFinal_ex") && CCRYPTO_FIND(found.md5, "EVP_md5")
        && CCRYPTO_FIND(found.sha256, "EVP_sha256") && CCRYPTO_FIND(found.sha512, "EVP_sha512") ? &found : NULL;
}

/// The interface of AES-256-GCM.
typedef struct {
    void *(*create)(void);
    void (*free)(void *context);
    int (*begin_sealing)(void *context, const void *cipher, void *engine, const uint8_t *key, const uint8_t *nonce);
    int (*seal)(void *context, uint8_t *out, int *count, const uint8_t *bytes, int length);
    int (*finish_sealing)(void *context, uint8_t *out, int *count);
    int (*begin_opening)(void *context, const void *cipher, void *engine, const uint8_t *key, const uint8_t *nonce);
    int (*open)(void *context, uint8_t *out, int *count, const uint8_t *bytes, int length);
    int (*finish_opening)(void *context, uint8_t *out, int *count);
    int (*control)(void *context, int command, int number, void *pointer);
    const void *(*aes)(void);
} ccrypto_gcm;

/// NULL when libcrypto isn't there.
static inline const ccrypto_gcm *ccrypto_find_gcm(void) {
    static ccrypto_gcm found;
    void *library = ccrypto_open();
    return library != NULL && CCRYPTO_FIND(found.create, "EVP_CIPHER_CTX_new")
        && CCRYPTO_FIND(found.free, "EVP_CIPHER_CTX_free") && CCRYPTO_FIND(found.begin_sealing, "EVP_EncryptInit_ex")
        && CCRYPTO_FIND(found.seal, "EVP_EncryptUpdate") && CCRYPTO_FIND(found.finish_sealing, "EVP_EncryptFinal_ex")
        && CCRYPTO_FIND(found.begin_opening, "EVP_DecryptInit_ex") && CCRYPTO_FIND(found.open, "EVP_DecryptUpdate")
        && CCRYPTO_FIND(found.finish_opening, "EVP_DecryptFinal_ex") && CCRYPTO_FIND(found.control, "EVP_CIPHER_CTX_ctrl")
        && CCRYPTO_FIND(found.aes, "EVP_aes_256_gcm") ? &found : NULL;
}

#define CCRYPTO_GCM_GET_TAG 0x10
#define CCRYPTO_GCM_SET_TAG 0x11
#define CCRYPTO_GCM_TAG_LENGTH 16

/// Seals bytes with a key of 32 bytes and a nonce of 12; writes as many, and a tag of 16. False when that fails.
static inline int ccrypto_gcm_seal(
    const ccrypto_gcm *library, const uint8_t *key, const uint8_t *nonce, const uint8_t *with, int with_length,
    const uint8_t *bytes, int length, uint8_t *out, uint8_t *tag
) {
    void *context = library->create();
    if (context == NULL) return 0;
    int count = 0;
    int done = library->begin_sealing(context, library->aes(), NULL, key, nonce) == 1
        && library->seal(context, NULL, &count, with, with_length) == 1
        && (length == 0 || library->seal(context, out, &count, bytes, length) == 1)
        && library->finish_sealing(context, tag, &count) == 1
        && library->control(context, CCRYPTO_GCM_GET_TAG, CCRYPTO_GCM_TAG_LENGTH, tag) == 1;
    library->free(context);
    return done;
}

/// Opens sealed bytes; false when they, the tag, or what was sealed with them are others.
static inline int ccrypto_gcm_open(
    const ccrypto_gcm *library, const uint8_t *key, const uint8_t *nonce, const uint8_t *with, int with_length,
    const uint8_t *bytes, int length, uint8_t *out, uint8_t *tag
) {
    void *context = library->create();
    if (context == NULL) return 0;
    int count = 0;
    uint8_t rest[CCRYPTO_GCM_TAG_LENGTH];
    int done = library->begin_opening(context, library->aes(), NULL, key, nonce) == 1
        && library->open(context, NULL, &count, with, with_length) == 1
        && (length == 0 || library->open(context, out, &count, bytes, length) == 1)
        && library->control(context, CCRYPTO_GCM_SET_TAG, CCRYPTO_GCM_TAG_LENGTH, tag) == 1
        && library->finish_opening(context, rest, &count) == 1;
    library->free(context);
    return done;
}

#endif
