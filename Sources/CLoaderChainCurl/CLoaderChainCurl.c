#if defined(__linux__)

#define _GNU_SOURCE
#include "CLoaderChainCurl.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/// libcurl's message about a transfer.
typedef struct {
    int kind;
    void *easy;
    union {
        void *whatever;
        int result;
    } data;
} message;

/// The beginning of libcurl's description of itself.
typedef struct {
    int age;
    const char *version;
    unsigned int version_number;
    const char *host;
    int features;
} description;

/// libcurl's functions; they are used only if all of them were found.
static struct {
    int (*global_init)(long);
    description *(*version_info)(int);
    void *(*easy_init)(void);
    void (*easy_cleanup)(void *);
    void (*easy_reset)(void *);
    const char *(*easy_strerror)(int);
    int (*easy_setopt)(void *, int, ...);
    int (*easy_getinfo)(void *, int, ...);
    void *(*multi_init)(void);
    int (*multi_cleanup)(void *);
    int (*multi_add_handle)(void *, void *);
    int (*multi_remove_handle)(void *, void *);
    int (*multi_setopt)(void *, int, ...);
    int (*multi_perform)(void *, int *);
    int (*multi_poll)(void *, void *, unsigned int, int, int *);
    int (*multi_wakeup)(void *);
    message *(*multi_info_read)(void *, int *);
} curl;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int state = loaderchain_curl_is_missing;
static char words[256];
static unsigned int version;
static int features;

/// Looks up a function, and clears the flag if it is missing.
static void *find(void *library, const char *name, int *is_whole) {
    void *function = dlsym(library, name);
    if (!function) *is_whole = 0;
    return function;
}

static void load(void) {
    // The first is what most programs use; the others are Debian's builds with other libraries for TLS.
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.so"};
    void *library = NULL;
    for (size_t index = 0; !library && index < sizeof names / sizeof *names; index++) {
        library = dlopen(names[index], RTLD_NOW | RTLD_LOCAL);
        // The first name is the usual one, which may be there and lack a library of its own.
        const char *reason = library || index > 0 ? NULL : dlerror();
        if (reason) snprintf(words, sizeof words, "%s", reason);
    }
    if (!library) return;
    words[0] = 0;
    int is_whole = 1;
    curl.global_init = find(library, "curl_global_init", &is_whole);
    curl.version_info = find(library, "curl_version_info", &is_whole);
    curl.easy_init = find(library, "curl_easy_init", &is_whole);
    curl.easy_cleanup = find(library, "curl_easy_cleanup", &is_whole);
    curl.easy_reset = find(library, "curl_easy_reset", &is_whole);
    curl.easy_strerror = find(library, "curl_easy_strerror", &is_whole);
    curl.easy_setopt = find(library, "curl_easy_setopt", &is_whole);
    curl.easy_getinfo = find(library, "curl_easy_getinfo", &is_whole);
    curl.multi_init = find(library, "curl_multi_init", &is_whole);
    curl.multi_cleanup = find(library, "curl_multi_cleanup", &is_whole);
    curl.multi_add_handle = find(library, "curl_multi_add_handle", &is_whole);
    curl.multi_remove_handle = find(library, "curl_multi_remove_handle", &is_whole);
    curl.multi_setopt = find(library, "curl_multi_setopt", &is_whole);
    curl.multi_perform = find(library, "curl_multi_perform", &is_whole);
    curl.multi_poll = find(library, "curl_multi_poll", &is_whole);
    curl.multi_wakeup = find(library, "curl_multi_wakeup", &is_whole);
    curl.multi_info_read = find(library, "curl_multi_info_read", &is_whole);
    if (!is_whole) {
        state = loaderchain_curl_is_too_old;
        return;
    }
    // Everything; before 7.84, this must not happen twice at once. Another user of libcurl in the process may do it too.
    if (curl.global_init(3) != 0) {
        state = loaderchain_curl_has_failed;
        return;
    }
    const description *own = curl.version_info(0);
    version = own->version_number;
    features = own->features;
    // It stays loaded, because its threads may still run when the program ends.
    state = version < 0x074400 ? loaderchain_curl_is_too_old : loaderchain_curl_is_there;
}

int loaderchain_curl_load(void) {
    pthread_once(&once, load);
    return state;
}

const char *loaderchain_curl_words(void) { return words; }

unsigned int loaderchain_curl_version(void) { return loaderchain_curl_load() == loaderchain_curl_is_there ? version : 0; }
int loaderchain_curl_features(void) { return loaderchain_curl_load() == loaderchain_curl_is_there ? features : 0; }

loaderchain_curl_easy *loaderchain_curl_easy_make(void) { return curl.easy_init(); }
void loaderchain_curl_easy_end(loaderchain_curl_easy *easy) { curl.easy_cleanup(easy); }
void loaderchain_curl_easy_reset(loaderchain_curl_easy *easy) { curl.easy_reset(easy); }
const char *loaderchain_curl_error_text(int code) { return curl.easy_strerror(code); }

int loaderchain_curl_set_number(loaderchain_curl_easy *easy, int option, long value) {
    return curl.easy_setopt(easy, option, value);
}
int loaderchain_curl_set_size(loaderchain_curl_easy *easy, int option, int64_t value) {
    return curl.easy_setopt(easy, option, value);
}
int loaderchain_curl_set_text(loaderchain_curl_easy *easy, int option, const char *value) {
    return curl.easy_setopt(easy, option, value);
}
int loaderchain_curl_set_list(loaderchain_curl_easy *easy, int option, loaderchain_curl_list *value) {
    return curl.easy_setopt(easy, option, value);
}
int loaderchain_curl_set_object(loaderchain_curl_easy *easy, int option, void *value) {
    return curl.easy_setopt(easy, option, value);
}
int loaderchain_curl_set_piece(loaderchain_curl_easy *easy, int option, loaderchain_curl_piece function) {
    return curl.easy_setopt(easy, option, function);
}
int loaderchain_curl_set_before_connecting(loaderchain_curl_easy *easy, loaderchain_curl_before_connecting function) {
    return curl.easy_setopt(easy, 20148, function);
}
int loaderchain_curl_set_seek(loaderchain_curl_easy *easy, loaderchain_curl_seek function) {
    return curl.easy_setopt(easy, 20167, function);
}
int loaderchain_curl_set_before_request(loaderchain_curl_easy *easy, loaderchain_curl_before_request function) {
    return curl.easy_setopt(easy, 20312, function);
}

int loaderchain_curl_get_number(loaderchain_curl_easy *easy, int info, long *value) {
    return curl.easy_getinfo(easy, info, value);
}
int loaderchain_curl_get_size(loaderchain_curl_easy *easy, int info, int64_t *value) {
    return curl.easy_getinfo(easy, info, value);
}

loaderchain_curl_multi *loaderchain_curl_multi_make(void) { return curl.multi_init(); }
int loaderchain_curl_multi_end(loaderchain_curl_multi *multi) { return curl.multi_cleanup(multi); }
int loaderchain_curl_multi_add(loaderchain_curl_multi *multi, loaderchain_curl_easy *easy) {
    return curl.multi_add_handle(multi, easy);
}
int loaderchain_curl_multi_remove(loaderchain_curl_multi *multi, loaderchain_curl_easy *easy) {
    return curl.multi_remove_handle(multi, easy);
}
int loaderchain_curl_multi_set_number(loaderchain_curl_multi *multi, int option, long value) {
    return curl.multi_setopt(multi, option, value);
}
int loaderchain_curl_multi_perform(loaderchain_curl_multi *multi, int *running) {
    return curl.multi_perform(multi, running);
}
int loaderchain_curl_multi_poll(loaderchain_curl_multi *multi, int milliseconds) {
    return curl.multi_poll(multi, NULL, 0, milliseconds, NULL);
}
int loaderchain_curl_multi_wake(loaderchain_curl_multi *multi) { return curl.multi_wakeup(multi); }
loaderchain_curl_easy *loaderchain_curl_multi_ended(loaderchain_curl_multi *multi, int *result) {
    int left;
    const message *next;
    while ((next = curl.multi_info_read(multi, &left))) {
        if (next->kind != 1) continue;
        *result = next->data.result;
        return next->easy;
    }
    return NULL;
}

int loaderchain_curl_memory_file(const void *bytes, size_t count) {
    int file = memfd_create("LoaderChain", MFD_CLOEXEC);
    if (file < 0) return -1;
    const char *next = bytes;
    while (count > 0) {
        ssize_t written = write(file, next, count);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            close(file);
            return -1;
        }
        next += written;
        count -= (size_t)written;
    }
    return file;
}

typedef struct {
    void (*body)(void *);
    void *object;
} call;

static void *carry_out(void *pointer) {
    call own = *(call *)pointer;
    free(pointer);
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    own.body(own.object);
    return NULL;
}

int loaderchain_curl_start_thread(void (*body)(void *object), void *object) {
    call *own = malloc(sizeof *own);
    if (!own) return -1;
    own->body = body;
    own->object = object;
    pthread_t thread;
    int result = pthread_create(&thread, NULL, carry_out, own);
    if (result != 0) {
        free(own);
        return result;
    }
    pthread_detach(thread);
    return 0;
}

#endif
