#include "CurlPeer.h"

#include "CLoaderChainCurl.h"

#if defined(__linux__)

/// The set of this process, whose connections serve all calls.
static loaderchain_curl_multi *multi;

enum { largest = 1024 };
static loaderchain_curl_easy *handles[largest];
static long counts[largest];

static size_t count_bytes(char *bytes, size_t size, size_t count, void *object) {
    *(long *)object += (long)(size * count);
    return size * count;
}

static void start(int index, const char *url) {
    loaderchain_curl_easy *easy = handles[index];
    loaderchain_curl_easy_reset(easy);
    counts[index] = 0;
    loaderchain_curl_set_text(easy, 10002, url);
    loaderchain_curl_set_number(easy, 99, 1);
    loaderchain_curl_set_text(easy, 10004, "");
    loaderchain_curl_set_piece(easy, 20011, count_bytes);
    loaderchain_curl_set_object(easy, 10001, &counts[index]);
    loaderchain_curl_multi_add(multi, easy);
}

long curl_peer_load(const char *url, int in_flight, long total, long expected_bytes) {
    if (loaderchain_curl_load() != loaderchain_curl_is_there || in_flight > largest) return total;
    if (!multi) {
        multi = loaderchain_curl_multi_make();
        loaderchain_curl_multi_set_number(multi, 6, largest);
    }
    long started = 0, ended = 0, failed = 0;
    for (int index = 0; index < in_flight && started < total; index++, started++) {
        if (!handles[index]) handles[index] = loaderchain_curl_easy_make();
        start(index, url);
    }
    while (ended < total) {
        int running, result;
        loaderchain_curl_multi_perform(multi, &running);
        loaderchain_curl_easy *easy;
        while ((easy = loaderchain_curl_multi_ended(multi, &result))) {
            loaderchain_curl_multi_remove(multi, easy);
            int index = 0;
            while (handles[index] != easy) index++;
            ended++;
            if (result != 0 || counts[index] != expected_bytes) failed++;
            if (started < total) {
                start(index, url);
                started++;
            }
        }
        if (ended < total) loaderchain_curl_multi_poll(multi, 1000);
    }
    return failed;
}

#else

long curl_peer_load(const char *url, int in_flight, long total, long expected_bytes) { return total; }

#endif
