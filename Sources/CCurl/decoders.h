#ifndef MIDSTREAM_CCURL_DECODERS_H
#define MIDSTREAM_CCURL_DECODERS_H

// What undoes content codings, taken from the libraries that libcurl itself uses. They are found by their sonames, which stand
// for the interfaces declared here, so that neither headers nor packages are needed to build, and one that isn't there is only
// not offered.

#ifdef __linux__

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

// zlib, libz.so.1

/// zlib's `z_stream`.
typedef struct {
    const uint8_t *next_in;
    unsigned int available_in;
    unsigned long total_in;
    uint8_t *next_out;
    unsigned int available_out;
    unsigned long total_out;
    const char *message;
    void *state;
    void *allocate;
    void *free;
    void *opaque;
    int data_type;
    unsigned long adler;
    unsigned long reserved;
} ccurl_zlib_stream;

typedef struct {
    int (*initialize)(ccurl_zlib_stream *stream, int window_bits, const char *version, int size);
    int (*inflate)(ccurl_zlib_stream *stream, int flush);
    int (*reset)(ccurl_zlib_stream *stream);
    int (*end)(ccurl_zlib_stream *stream);
} ccurl_zlib_functions;

/// False when zlib isn't there.
static inline int ccurl_find_zlib(ccurl_zlib_functions *found) {
    void *library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return 0;
    *(void **)&found->initialize = dlsym(library, "inflateInit2_");
    *(void **)&found->inflate = dlsym(library, "inflate");
    *(void **)&found->reset = dlsym(library, "inflateReset");
    *(void **)&found->end = dlsym(library, "inflateEnd");
    return found->initialize != NULL && found->inflate != NULL && found->reset != NULL && found->end != NULL;
}

static inline int ccurl_zlib_initialize(const ccurl_zlib_functions *zlib, ccurl_zlib_stream *stream, int window_bits) {
    // zlib compares the first digit of the version and the size.
    return zlib->initialize(stream, window_bits, "1", (int)sizeof(ccurl_zlib_stream));
}

// brotli, libbrotlidec.so.1

typedef struct {
    void *(*create)(void *allocate, void *free, void *opaque);
    int (*decompress)(
        void *state, size_t *available_in, const uint8_t **next_in, size_t *available_out, uint8_t **next_out, size_t *total);
    void (*destroy)(void *state);
} ccurl_brotli_functions;

/// False when brotli isn't there.
static inline int ccurl_find_brotli(ccurl_brotli_functions *found) {
    void *library = dlopen("libbrotlidec.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return 0;
    *(void **)&found->create = dlsym(library, "BrotliDecoderCreateInstance");
    *(void **)&found->decompress = dlsym(library, "BrotliDecoderDecompressStream");
    *(void **)&found->destroy = dlsym(library, "BrotliDecoderDestroyInstance");
    return found->create != NULL && found->decompress != NULL && found->destroy != NULL;
}

// zstd, libzstd.so.1

/// zstd's `ZSTD_inBuffer`.
typedef struct {
    const void *bytes;
    size_t size;
    size_t position;
} ccurl_zstd_input;

/// zstd's `ZSTD_outBuffer`.
typedef struct {
    void *bytes;
    size_t size;
    size_t position;
} ccurl_zstd_output;

typedef struct {
    void *(*create)(void);
    size_t (*decompress)(void *state, ccurl_zstd_output *output, ccurl_zstd_input *input);
    size_t (*set)(void *state, int parameter, int value);
    unsigned int (*is_error)(size_t code);
    size_t (*destroy)(void *state);
} ccurl_zstd_functions;

/// False when zstd isn't there.
static inline int ccurl_find_zstd(ccurl_zstd_functions *found) {
    void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return 0;
    *(void **)&found->create = dlsym(library, "ZSTD_createDStream");
    *(void **)&found->decompress = dlsym(library, "ZSTD_decompressStream");
    *(void **)&found->set = dlsym(library, "ZSTD_DCtx_setParameter");
    *(void **)&found->is_error = dlsym(library, "ZSTD_isError");
    *(void **)&found->destroy = dlsym(library, "ZSTD_freeDStream");
    return found->create != NULL && found->decompress != NULL && found->set != NULL && found->is_error != NULL
        && found->destroy != NULL;
}

#endif
#endif
