// The functions of libcurl that this package calls, declared without libcurl's own headers.
//
// The library is loaded when it is first needed, so that building a program needs no development files of it, and a program starts
// without it. Options and messages have the numbers and layouts of libcurl's stable ABI. The functions with a variable number of
// arguments are called here, because Swift cannot call them; each wrapper has the one type that its options take.

#ifndef LOADERCHAIN_CURL_H
#define LOADERCHAIN_CURL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A transfer, and a set of transfers; both belong to libcurl.
typedef struct loaderchain_curl_easy loaderchain_curl_easy;
typedef struct loaderchain_curl_multi loaderchain_curl_multi;
/// A list of texts, as libcurl reads it; it belongs to whoever made it.
typedef struct loaderchain_curl_list {
    char *text;
    struct loaderchain_curl_list *next;
} loaderchain_curl_list;

/// Whether the library can be used, and otherwise why not.
enum {
    loaderchain_curl_is_there = 0,
    /// There is no library, or the program cannot load one.
    loaderchain_curl_is_missing = 1,
    /// It lacks a function, so it is older than 7.68.
    loaderchain_curl_is_too_old = 2,
    /// It could not be initialized.
    loaderchain_curl_has_failed = 3,
};

/// Loads the library, once; returns one of the numbers above.
int loaderchain_curl_load(void);

/// The system's words about why the usual library could not be loaded; empty if there is one.
const char *loaderchain_curl_words(void);

/// The version as in 0x075801 for 7.88.1, and the features as bits; 0 without a library.
unsigned int loaderchain_curl_version(void);
int loaderchain_curl_features(void);

enum {
    loaderchain_curl_feature_resolver_thread = 1 << 7,
    loaderchain_curl_feature_http2 = 1 << 16,
    loaderchain_curl_feature_unix_sockets = 1 << 19,
};

// A transfer.

loaderchain_curl_easy *loaderchain_curl_easy_make(void);
void loaderchain_curl_easy_end(loaderchain_curl_easy *easy);
void loaderchain_curl_easy_reset(loaderchain_curl_easy *easy);
const char *loaderchain_curl_error_text(int code);

/// Set an option by its number; they return 0 if the library knows the option.
int loaderchain_curl_set_number(loaderchain_curl_easy *easy, int option, long value);
int loaderchain_curl_set_size(loaderchain_curl_easy *easy, int option, int64_t value);
int loaderchain_curl_set_text(loaderchain_curl_easy *easy, int option, const char *value);
int loaderchain_curl_set_list(loaderchain_curl_easy *easy, int option, loaderchain_curl_list *value);
int loaderchain_curl_set_object(loaderchain_curl_easy *easy, int option, void *value);

/// What is called with the pieces of a head or a body, and to get the next bytes of a request's body.
typedef size_t (*loaderchain_curl_piece)(char *bytes, size_t size, size_t count, void *object);
/// What is called to read a request's body from another place; 0 means that it worked.
typedef int (*loaderchain_curl_seek)(void *object, int64_t offset, int origin);
/// What is called before a request is sent; any other answer than 0 ends the transfer.
typedef int (*loaderchain_curl_before_request)(void *object, char *primary_address, char *local_address, int primary_port,
                                               int local_port);
int loaderchain_curl_set_piece(loaderchain_curl_easy *easy, int option, loaderchain_curl_piece function);
/// What is called with a new socket, before it connects; any other answer than 0 ends the transfer.
typedef int (*loaderchain_curl_before_connecting)(void *object, int socket, int purpose);
int loaderchain_curl_set_before_connecting(loaderchain_curl_easy *easy, loaderchain_curl_before_connecting function);
int loaderchain_curl_set_seek(loaderchain_curl_easy *easy, loaderchain_curl_seek function);
int loaderchain_curl_set_before_request(loaderchain_curl_easy *easy, loaderchain_curl_before_request function);

int loaderchain_curl_get_number(loaderchain_curl_easy *easy, int info, long *value);
int loaderchain_curl_get_size(loaderchain_curl_easy *easy, int info, int64_t *value);

// A set of transfers.

loaderchain_curl_multi *loaderchain_curl_multi_make(void);
int loaderchain_curl_multi_end(loaderchain_curl_multi *multi);
int loaderchain_curl_multi_add(loaderchain_curl_multi *multi, loaderchain_curl_easy *easy);
int loaderchain_curl_multi_remove(loaderchain_curl_multi *multi, loaderchain_curl_easy *easy);
int loaderchain_curl_multi_set_number(loaderchain_curl_multi *multi, int option, long value);
int loaderchain_curl_multi_perform(loaderchain_curl_multi *multi, int *running);
int loaderchain_curl_multi_poll(loaderchain_curl_multi *multi, int milliseconds);
/// May be called on any thread.
int loaderchain_curl_multi_wake(loaderchain_curl_multi *multi);
/// The next transfer that has ended, with its result; NULL if there is none.
loaderchain_curl_easy *loaderchain_curl_multi_ended(loaderchain_curl_multi *multi, int *result);

// What a loader needs beside it.

/// Makes a file that has no name and lives in memory, with these bytes; its path is /proc/self/fd/ and the number that is returned.
/// Returns -1 if the system cannot.
int loaderchain_curl_memory_file(const void *bytes, size_t count);

/// The codings of a body that libraries beside libcurl decode; they are loaded when they are first needed.
enum { loaderchain_coding_brotli, loaderchain_coding_zstd };
/// What a step of decoding has led to.
enum { loaderchain_coding_wants_input, loaderchain_coding_has_ended, loaderchain_coding_has_output, loaderchain_coding_is_damaged };
typedef struct loaderchain_decoder loaderchain_decoder;

/// Whether the library of a coding is there.
int loaderchain_decoder_exists(int coding);
/// Begins a stream; NULL without the library or memory.
loaderchain_decoder *loaderchain_decoder_make(int coding);
/// Decodes from some bytes to others; the counts become what was read and written.
int loaderchain_decoder_step(loaderchain_decoder *decoder, const void *input, size_t *input_count, void *output,
                             size_t *output_count);
void loaderchain_decoder_end(loaderchain_decoder *decoder);

/// Calls a function on a thread of its own, on which no broken connection can end the process; returns 0 if there is one.
int loaderchain_curl_start_thread(void (*body)(void *object), void *object);

#ifdef __cplusplus
}
#endif

#endif
