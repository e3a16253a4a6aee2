#if defined(__linux__)

#include "CLoaderChainCurl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

struct loaderchain_decoder {
    int coding;
    void *state;
};

/// Bytes, as zstd takes and gives them.
typedef struct {
    const void *bytes;
    size_t size;
    size_t position;
} zstd_input;
typedef struct {
    void *bytes;
    size_t size;
    size_t position;
} zstd_output;

static struct {
    void *(*make)(void *, void *, void *);
    int (*decode)(void *, size_t *, const unsigned char **, size_t *, unsigned char **, size_t *);
    void (*end)(void *);
} brotli;

static struct {
    void *(*make)(void);
    size_t (*set)(void *, int, int);
    size_t (*decode)(void *, zstd_output *, zstd_input *);
    unsigned (*is_error)(size_t);
    size_t (*end)(void *);
} zstd;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int has_brotli, has_zstd;

static void load(void) {
    void *library = dlopen("libbrotlidec.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library) {
        brotli.make = dlsym(library, "BrotliDecoderCreateInstance");
        brotli.decode = dlsym(library, "BrotliDecoderDecompressStream");
        brotli.end = dlsym(library, "BrotliDecoderDestroyInstance");
        has_brotli = brotli.make && brotli.decode && brotli.end;
    }
    library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library) {
        zstd.make = dlsym(library, "ZSTD_createDCtx");
        zstd.set = dlsym(library, "ZSTD_DCtx_setParameter");
        zstd.decode = dlsym(library, "ZSTD_decompressStream");
        zstd.is_error = dlsym(library, "ZSTD_isError");
        zstd.end = dlsym(library, "ZSTD_freeDCtx");
        has_zstd = zstd.make && zstd.set && zstd.decode && zstd.is_error && zstd.end;
    }
}

int loaderchain_decoder_exists(int coding) {
    pthread_once(&once, load);
    return coding == loaderchain_coding_brotli ? has_brotli : has_zstd;
}

loaderchain_decoder *loaderchain_decoder_make(int coding) {
    if (!loaderchain_decoder_exists(coding)) return NULL;
    loaderchain_decoder *decoder = malloc(sizeof *decoder);
    if (!decoder) return NULL;
    decoder->coding = coding;
    decoder->state = coding == loaderchain_coding_brotli ? brotli.make(NULL, NULL, NULL) : zstd.make();
    if (!decoder->state) {
        free(decoder);
        return NULL;
    }
    // A server may ask for a window of 8 MiB (RFC 9659), and for no more.
    if (coding == loaderchain_coding_zstd) zstd.set(decoder->state, 100, 23);
    return decoder;
}

static int step_brotli(void *state, const void *input, size_t *input_count, void *output, size_t *output_count) {
    size_t input_left = *input_count, output_left = *output_count;
    const unsigned char *next_input = input;
    unsigned char *next_output = output;
    int result = brotli.decode(state, &input_left, &next_input, &output_left, &next_output, NULL);
    *input_count -= input_left;
    *output_count -= output_left;
    switch (result) {
    case 1: return loaderchain_coding_has_ended;
    case 2: return loaderchain_coding_wants_input;
    case 3: return loaderchain_coding_has_output;
    default: return loaderchain_coding_is_damaged;
    }
}

static int step_zstd(void *state, const void *input, size_t *input_count, void *output, size_t *output_count) {
    zstd_input from = {input, *input_count, 0};
    zstd_output to = {output, *output_count, 0};
    size_t result = zstd.decode(state, &to, &from);
    *input_count = from.position;
    *output_count = to.position;
    if (zstd.is_error(result)) return loaderchain_coding_is_damaged;
    if (result == 0) return loaderchain_coding_has_ended;
    return to.position == to.size ? loaderchain_coding_has_output : loaderchain_coding_wants_input;
}

int loaderchain_decoder_step(loaderchain_decoder *decoder, const void *input, size_t *input_count, void *output,
                             size_t *output_count) {
    int (*step)(void *, const void *, size_t *, void *, size_t *) =
        decoder->coding == loaderchain_coding_brotli ? step_brotli : step_zstd;
    return step(decoder->state, input, input_count, output, output_count);
}

void loaderchain_decoder_end(loaderchain_decoder *decoder) {
    if (decoder->coding == loaderchain_coding_brotli) {
        brotli.end(decoder->state);
    } else {
        zstd.end(decoder->state);
    }
    free(decoder);
}

#endif
