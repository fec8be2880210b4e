#ifndef MIDSTREAM_CCOMPRESSION_H
#define MIDSTREAM_CCOMPRESSION_H

// What compresses bodies and undoes that: zlib, zstd and brotli, found by their sonames, which stand for the interfaces declared
// here. So neither headers nor packages are needed to build, and a library that isn't there is only not offered.

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __APPLE__
#define CCOMPRESSION_ZLIB "/usr/lib/libz.1.dylib"
#define CCOMPRESSION_ZSTD "libzstd.1.dylib"
#define CCOMPRESSION_BROTLI "libbrotlidec.1.dylib"
#else
#define CCOMPRESSION_ZLIB "libz.so.1"
#define CCOMPRESSION_ZSTD "libzstd.so.1"
#define CCOMPRESSION_BROTLI "libbrotlidec.so.1"
#endif

/// Finds a function of `library`; false when it isn't there.
#define CCOMPRESSION_FIND(function, name) ((*(void **)&(function) = dlsym(library, name)) != NULL)

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
} ccompression_zlib_stream;

typedef struct {
    int (*initialize)(ccompression_zlib_stream *stream, int level, int method, int window_bits, int memory_level, int strategy,
                      const char *version, int size);
    int (*deflate)(ccompression_zlib_stream *stream, int flush);
    int (*end)(ccompression_zlib_stream *stream);
} ccompression_zlib_encoder;

/// NULL when zlib isn't there.
static inline const ccompression_zlib_encoder *ccompression_find_zlib_encoder(void) {
    static ccompression_zlib_encoder found;
    void *library = dlopen(CCOMPRESSION_ZLIB, RTLD_NOW | RTLD_LOCAL);
    return library != NULL && CCOMPRESSION_FIND(found.initialize, "deflateInit2_")
        && CCOMPRESSION_FIND(found.deflate, "deflate") && CCOMPRESSION_FIND(found.end, "deflateEnd") ? &found : NULL;
}

/// Begins a gzip member (RFC 1952) of a level, -1 for the usual one; zlib compares the first digit of the version and the size.
static inline int ccompression_begin_gzip(const ccompression_zlib_encoder *zlib, ccompression_zlib_stream *stream, int level) {
    return zlib->initialize(stream, level, 8, 31, 8, 0, "1", (int)sizeof(ccompression_zlib_stream));
}

/// Begins deflate (RFC 1951) without head and end; a negative number of bits says so.
static inline int ccompression_begin_raw_deflating(const ccompression_zlib_encoder *zlib, ccompression_zlib_stream *stream, int window_bits) {
    return zlib->initialize(stream, -1, 8, window_bits, 8, 0, "1", (int)sizeof(ccompression_zlib_stream));
}

/// zstd's `ZSTD_inBuffer`.
typedef struct {
    const void *bytes;
    size_t size;
    size_t position;
} ccompression_zstd_input;

/// zstd's `ZSTD_outBuffer`.
typedef struct {
    void *bytes;
    size_t size;
    size_t position;
} ccompression_zstd_output;

typedef struct {
    void *(*create)(void);
    size_t (*free)(void *context);
    size_t (*compress)(void *context, ccompression_zstd_output *output, ccompression_zstd_input *input, int end);
    unsigned (*is_error)(size_t code);
} ccompression_zstd_encoder;

/// NULL when zstd isn't there.
static inline const ccompression_zstd_encoder *ccompression_find_zstd_encoder(void) {
    static ccompression_zstd_encoder found;
    void *library = dlopen(CCOMPRESSION_ZSTD, RTLD_NOW | RTLD_LOCAL);
    return library != NULL && CCOMPRESSION_FIND(found.create, "ZSTD_createCCtx")
        && CCOMPRESSION_FIND(found.free, "ZSTD_freeCCtx") && CCOMPRESSION_FIND(found.compress, "ZSTD_compressStream2")
        && CCOMPRESSION_FIND(found.is_error, "ZSTD_isError") ? &found : NULL;
}

// The other way, for the transport; libcurl itself uses the same libraries.

typedef struct {
    int (*initialize)(ccompression_zlib_stream *stream, int window_bits, const char *version, int size);
    int (*inflate)(ccompression_zlib_stream *stream, int flush);
    int (*reset)(ccompression_zlib_stream *stream);
    int (*end)(ccompression_zlib_stream *stream);
} ccompression_zlib_decoder;

/// NULL when zlib isn't there.
static inline const ccompression_zlib_decoder *ccompression_find_zlib_decoder(void) {
    static ccompression_zlib_decoder found;
    void *library = dlopen(CCOMPRESSION_ZLIB, RTLD_NOW | RTLD_LOCAL);
    return library != NULL && CCOMPRESSION_FIND(found.initialize, "inflateInit2_")
        && CCOMPRESSION_FIND(found.inflate, "inflate") && CCOMPRESSION_FIND(found.reset, "inflateReset")
        && CCOMPRESSION_FIND(found.end, "inflateEnd") ? &found : NULL;
}

static inline int ccompression_begin_inflating(const ccompression_zlib_decoder *zlib, ccompression_zlib_stream *stream, int window_bits) {
    // zlib compares the first digit of the version and the size.
    return zlib->initialize(stream, window_bits, "1", (int)sizeof(ccompression_zlib_stream));
}

typedef struct {
    void *(*create)(void *allocate, void *free, void *opaque);
    int (*decompress)(
        void *state, size_t *available_in, const uint8_t **next_in, size_t *available_out, uint8_t **next_out, size_t *total);
    int (*has_more_output)(const void *state);
    void (*destroy)(void *state);
} ccompression_brotli_decoder;

/// NULL when brotli isn't there.
static inline const ccompression_brotli_decoder *ccompression_find_brotli_decoder(void) {
    static ccompression_brotli_decoder found;
    void *library = dlopen(CCOMPRESSION_BROTLI, RTLD_NOW | RTLD_LOCAL);
    return library != NULL && CCOMPRESSION_FIND(found.create, "BrotliDecoderCreateInstance")
        && CCOMPRESSION_FIND(found.decompress, "BrotliDecoderDecompressStream")
        && CCOMPRESSION_FIND(found.has_more_output, "BrotliDecoderHasMoreOutput")
        && CCOMPRESSION_FIND(found.destroy, "BrotliDecoderDestroyInstance") ? &found : NULL;
}

typedef struct {
    void *(*create)(void);
    size_t (*decompress)(void *state, ccompression_zstd_output *output, ccompression_zstd_input *input);
    size_t (*set)(void *state, int parameter, int value);
    unsigned int (*is_error)(size_t code);
    size_t (*destroy)(void *state);
} ccompression_zstd_decoder;

/// NULL when zstd isn't there.
static inline const ccompression_zstd_decoder *ccompression_find_zstd_decoder(void) {
    static ccompression_zstd_decoder found;
    void *library = dlopen(CCOMPRESSION_ZSTD, RTLD_NOW | RTLD_LOCAL);
    return library != NULL && CCOMPRESSION_FIND(found.create, "ZSTD_createDStream")
        && CCOMPRESSION_FIND(found.decompress, "ZSTD_decompressStream")
        && CCOMPRESSION_FIND(found.set, "ZSTD_DCtx_setParameter") && CCOMPRESSION_FIND(found.is_error, "ZSTD_isError")
        && CCOMPRESSION_FIND(found.destroy, "ZSTD_freeDStream") ? &found : NULL;
}

#endif
