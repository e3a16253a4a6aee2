#include "CLoaderChainZlib.h"

#if !defined(__APPLE__)

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

typedef loaderchain_zstream zstream;

/// zlib's functions; they are used only if all of them were found.
static struct {
    int (*deflate_init)(zstream *, int, int, int, int, int, const char *, int);
    int (*deflate)(zstream *, int);
    int (*deflate_reset)(zstream *);
    int (*deflate_end)(zstream *);
    int (*inflate_init)(zstream *, int, const char *, int);
    int (*inflate)(zstream *, int);
    int (*inflate_end)(zstream *);
    const char *(*version)(void);
} zlib;

static pthread_once_t once = PTHREAD_ONCE_INIT;

/// Looks up a function, and clears the flag if it is missing.
static void *find(void *library, const char *name, int *is_whole) {
    void *function = dlsym(library, name);
    if (!function) *is_whole = 0;
    return function;
}

static void load(void) {
    // The versioned name comes first; the other name is that of the development files, or of Android.
    void *library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) library = dlopen("libz.so", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    int is_whole = 1;
    zlib.deflate_init = find(library, "deflateInit2_", &is_whole);
    zlib.deflate = find(library, "deflate", &is_whole);
    zlib.deflate_reset = find(library, "deflateReset", &is_whole);
    zlib.deflate_end = find(library, "deflateEnd", &is_whole);
    zlib.inflate_init = find(library, "inflateInit2_", &is_whole);
    zlib.inflate = find(library, "inflate", &is_whole);
    zlib.inflate_end = find(library, "inflateEnd", &is_whole);
    const char *(*version)(void) = find(library, "zlibVersion", &is_whole);
    // A version means that the whole library is available. It stays loaded, because other code may use it.
    if (is_whole) zlib.version = version;
}

const char *loaderchain_zlib_version(void) {
    pthread_once(&once, load);
    return zlib.version ? zlib.version() : NULL;
}

int loaderchain_deflate_init(zstream *stream, int level, int method, int window_bits, int memory_level, int strategy,
                             const char *version, int stream_size) {
    if (!loaderchain_zlib_version()) return loaderchain_z_version_error;
    return zlib.deflate_init(stream, level, method, window_bits, memory_level, strategy, version, stream_size);
}

int loaderchain_inflate_init(zstream *stream, int window_bits, const char *version, int stream_size) {
    if (!loaderchain_zlib_version()) return loaderchain_z_version_error;
    return zlib.inflate_init(stream, window_bits, version, stream_size);
}

// If a stream has state, the library is loaded.

int loaderchain_deflate(zstream *stream, int flush) {
    return stream->state ? zlib.deflate(stream, flush) : loaderchain_z_stream_error;
}

int loaderchain_deflate_reset(zstream *stream) {
    return stream->state ? zlib.deflate_reset(stream) : loaderchain_z_stream_error;
}

int loaderchain_deflate_end(zstream *stream) {
    return stream->state ? zlib.deflate_end(stream) : loaderchain_z_stream_error;
}

int loaderchain_inflate(zstream *stream, int flush) {
    return stream->state ? zlib.inflate(stream, flush) : loaderchain_z_stream_error;
}

int loaderchain_inflate_end(zstream *stream) {
    return stream->state ? zlib.inflate_end(stream) : loaderchain_z_stream_error;
}

#endif
