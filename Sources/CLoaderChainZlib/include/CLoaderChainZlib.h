// The few functions of zlib that this package calls, declared without zlib's own header.
//
// On Apple systems, they are linked to the system's library. Elsewhere the library is loaded on first use, so that building a
// program needs no development files of zlib. These declarations have been the same in every version since 1.2.0. Their names are
// the package's own, so that they cannot clash with those of the real header.

#ifndef LOADERCHAIN_ZLIB_H
#define LOADERCHAIN_ZLIB_H

#if defined(__APPLE__)
#define LOADERCHAIN_ZLIB(name) __asm__("_" #name)
#else
#define LOADERCHAIN_ZLIB(name)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// zlib's `z_stream`: the input, the output, and zlib's state.
typedef struct loaderchain_zstream {
    const unsigned char *next_in;
    unsigned int avail_in;
    unsigned long total_in;
    unsigned char *next_out;
    unsigned int avail_out;
    unsigned long total_out;
    const char *msg;
    void *state;
    void *zalloc;
    void *zfree;
    void *opaque;
    int data_type;
    unsigned long adler;
    unsigned long reserved;
} loaderchain_zstream;

enum {
    loaderchain_z_no_flush = 0,
    loaderchain_z_finish = 4,
    loaderchain_z_ok = 0,
    loaderchain_z_stream_end = 1,
    loaderchain_z_stream_error = -2,
    loaderchain_z_buf_error = -5,
    loaderchain_z_version_error = -6,
    loaderchain_z_deflated = 8,
    loaderchain_z_default_strategy = 0,
};

int loaderchain_deflate_init(loaderchain_zstream *stream, int level, int method, int window_bits, int memory_level,
                             int strategy, const char *version, int stream_size) LOADERCHAIN_ZLIB(deflateInit2_);
int loaderchain_deflate(loaderchain_zstream *stream, int flush) LOADERCHAIN_ZLIB(deflate);
int loaderchain_deflate_reset(loaderchain_zstream *stream) LOADERCHAIN_ZLIB(deflateReset);
int loaderchain_deflate_end(loaderchain_zstream *stream) LOADERCHAIN_ZLIB(deflateEnd);

int loaderchain_inflate_init(loaderchain_zstream *stream, int window_bits, const char *version,
                             int stream_size) LOADERCHAIN_ZLIB(inflateInit2_);
int loaderchain_inflate(loaderchain_zstream *stream, int flush) LOADERCHAIN_ZLIB(inflate);
int loaderchain_inflate_end(loaderchain_zstream *stream) LOADERCHAIN_ZLIB(inflateEnd);

/// NULL if the library is missing; in that case both init functions fail.
const char *loaderchain_zlib_version(void) LOADERCHAIN_ZLIB(zlibVersion);

#ifdef __cplusplus
}
#endif

#endif
