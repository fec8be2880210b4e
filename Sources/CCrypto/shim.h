#ifndef MIDSTREAM_CCRYPTO_H
#define MIDSTREAM_CCRYPTO_H

// libcrypto's hash functions and AES-256-GCM, found by its sonames, which stand for the interface declared here. So neither headers nor packages are
// needed to build, and a machine without the library lacks only digests.

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

/// As long as the longest hash (`EVP_MAX_MD_SIZE`).
#define CCRYPTO_LONGEST_HASH 64

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

/// False when libcrypto isn't there.
static inline int ccrypto_find(ccrypto_library *found) {
    void *library = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) library = dlopen("libcrypto.so.1.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return 0;
    *(void **)&found->create = dlsym(library, "EVP_MD_CTX_new");
    *(void **)&found->free = dlsym(library, "EVP_MD_CTX_free");
    *(void **)&found->begin = dlsym(library, "EVP_DigestInit_ex");
    *(void **)&found->update = dlsym(library, "EVP_DigestUpdate");
    *(void **)&found->finish = dlsym(library, "EVP_DigestFinal_ex");
    *(void **)&found->md5 = dlsym(library, "EVP_md5");
    *(void **)&found->sha256 = dlsym(library, "EVP_sha256");
    *(void **)&found->sha512 = dlsym(library, "EVP_sha512");
    return found->create != NULL && found->free != NULL && found->begin != NULL && found->update != NULL && found->finish != NULL
        && found->md5 != NULL && found->sha256 != NULL && found->sha512 != NULL;
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

/// False when libcrypto isn't there.
static inline int ccrypto_find_gcm(ccrypto_gcm *found) {
    void *library = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) library = dlopen("libcrypto.so.1.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return 0;
    *(void **)&found->create = dlsym(library, "EVP_CIPHER_CTX_new");
    *(void **)&found->free = dlsym(library, "EVP_CIPHER_CTX_free");
    *(void **)&found->begin_sealing = dlsym(library, "EVP_EncryptInit_ex");
    *(void **)&found->seal = dlsym(library, "EVP_EncryptUpdate");
    *(void **)&found->finish_sealing = dlsym(library, "EVP_EncryptFinal_ex");
    *(void **)&found->begin_opening = dlsym(library, "EVP_DecryptInit_ex");
    *(void **)&found->open = dlsym(library, "EVP_DecryptUpdate");
    *(void **)&found->finish_opening = dlsym(library, "EVP_DecryptFinal_ex");
    *(void **)&found->control = dlsym(library, "EVP_CIPHER_CTX_ctrl");
    *(void **)&found->aes = dlsym(library, "EVP_aes_256_gcm");
    return found->create != NULL && found->free != NULL && found->begin_sealing != NULL && found->seal != NULL
        && found->finish_sealing != NULL && found->begin_opening != NULL && found->open != NULL && found->finish_opening != NULL
        && found->control != NULL && found->aes != NULL;
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
