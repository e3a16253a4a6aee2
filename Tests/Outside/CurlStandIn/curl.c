// A libcurl of the version and with the features that the command of its compilation names, as far as these are read.

typedef struct {
    int age;
    const char *version;
    unsigned int number;
    const char *host;
    int features;
    const char *tls;
} description;

static description own = {6, "stand-in", VERSION, "linux", FEATURES, "none"};

int curl_global_init(long flags) { return 0; }
description *curl_version_info(int age) { return &own; }

#define FUNCTION(name) int name(void) { return 1; }
FUNCTION(curl_easy_init)
FUNCTION(curl_easy_cleanup)
FUNCTION(curl_easy_reset)
FUNCTION(curl_easy_strerror)
FUNCTION(curl_easy_setopt)
FUNCTION(curl_easy_getinfo)
FUNCTION(curl_multi_init)
FUNCTION(curl_multi_cleanup)
FUNCTION(curl_multi_add_handle)
FUNCTION(curl_multi_remove_handle)
FUNCTION(curl_multi_setopt)
FUNCTION(curl_multi_perform)
FUNCTION(curl_multi_poll)
FUNCTION(curl_multi_wakeup)
FUNCTION(curl_multi_info_read)
