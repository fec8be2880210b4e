#ifndef MIDSTREAM_CCRYPTO_H
#define MIDSTREAM_CCRYPTO_H

// libcrypto's hash functions, found by its sonames, which stand for the interface declared here. So neither headers nor packages are
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

#endif
