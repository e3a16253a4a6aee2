// Takes the place of the system's getaddrinfo: hosts below slow.invalid take as long as the program wants, those below quick.invalid are
// this machine.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static char hosts[2][64];
static int are_over;

/// Waits until two hosts are looked up; libcurl may look up each more than once.
void wait_for_slow_lookups(void) {
    pthread_mutex_lock(&lock);
    while (!hosts[1][0]) pthread_cond_wait(&change, &lock);
    pthread_mutex_unlock(&lock);
}

void end_slow_lookups(void) {
    pthread_mutex_lock(&lock);
    are_over = 1;
    pthread_cond_broadcast(&change);
    pthread_mutex_unlock(&lock);
}

static int is_below(const char *host, const char *domain) {
    size_t length = strlen(host), rest = strlen(domain);
    return length > rest && strcmp(host + length - rest, domain) == 0;
}

int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **result) {
    if (host && is_below(host, ".slow.invalid")) {
        pthread_mutex_lock(&lock);
        int place = hosts[0][0] && strcmp(hosts[0], host) != 0;
        strncpy(hosts[place], host, sizeof hosts[place] - 1);
        pthread_cond_broadcast(&change);
        while (!are_over) pthread_cond_wait(&change, &lock);
        pthread_mutex_unlock(&lock);
        return EAI_NONAME;
    }
    int (*next)(const char *, const char *, const struct addrinfo *, struct addrinfo **) = dlsym(RTLD_NEXT, "getaddrinfo");
    return next(host && is_below(host, ".quick.invalid") ? "127.0.0.1" : host, service, hints, result);
}
