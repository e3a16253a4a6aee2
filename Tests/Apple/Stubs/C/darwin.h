// The parts of Apple's C library that the package uses, with the types and nullability of Apple's headers. Headers that Apple
// has audited say what may be null; Swift imports the pointers of the others as `T!`.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef int64_t off_t;
typedef long ssize_t;
typedef unsigned short mode_t;
typedef int pid_t;
typedef unsigned int uid_t;
typedef unsigned int gid_t;
typedef int dev_t;
typedef unsigned short nlink_t;
typedef uint64_t ino_t;
typedef int64_t blkcnt_t;
typedef int blksize_t;
typedef long time_t;
typedef int suseconds_t;
typedef unsigned int useconds_t;
typedef unsigned int id_t;
typedef unsigned int socklen_t;
typedef unsigned char sa_family_t;
typedef unsigned short in_port_t;
typedef unsigned int in_addr_t;
typedef unsigned int nfds_t;
typedef unsigned int sigset_t;
typedef unsigned long long rlim_t;

struct timespec { time_t tv_sec; long tv_nsec; };
struct timeval { time_t tv_sec; suseconds_t tv_usec; };

// errno
extern int *__error(void);
#define EPERM 1
#define ENOENT 2
#define EINTR 4
#define EIO 5
#define EBADF 9
#define ECHILD 10
#define ENOMEM 12
#define EACCES 13
#define EEXIST 17
#define ENOTDIR 20
#define EISDIR 21
#define EINVAL 22
#define ENFILE 23
#define EMFILE 24
#define EFBIG 27
#define ENOSPC 28
#define EROFS 30
#define EPIPE 32
#define EAGAIN 35
#define EINPROGRESS 36
#define EWOULDBLOCK EAGAIN
#define ENOTSUP 45
#define EAFNOSUPPORT 47
#define EADDRINUSE 48
#define EADDRNOTAVAIL 49
#define ENETUNREACH 51
#define ECONNRESET 54
#define ENOBUFS 55
#define ETIMEDOUT 60
#define ENAMETOOLONG 63
#define ECONNREFUSED 61
#define EHOSTUNREACH 65
#define ENOTEMPTY 66
#define EDQUOT 69
char *strerror(int code);
int strerror_r(int code, char *text, size_t size);

// Files
struct stat {
    dev_t st_dev;
    mode_t st_mode;
    nlink_t st_nlink;
    ino_t st_ino;
    uid_t st_uid;
    gid_t st_gid;
    dev_t st_rdev;
    struct timespec st_atimespec;
    struct timespec st_mtimespec;
    struct timespec st_ctimespec;
    struct timespec st_birthtimespec;
    off_t st_size;
    blkcnt_t st_blocks;
    blksize_t st_blksize;
    uint32_t st_flags;
    uint32_t st_gen;
    int32_t st_lspare;
    int64_t st_qspare[2];
};
int stat(const char *path, struct stat *status);
int lstat(const char *path, struct stat *status);
int fstat(int file, struct stat *status);
int fstatat(int folder, const char *path, struct stat *status, int flags);
int close(int file);
ssize_t read(int file, void *bytes, size_t count);
ssize_t write(int file, const void *bytes, size_t count);
ssize_t pread(int file, void *bytes, size_t count, off_t offset);
ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset);
off_t lseek(int file, off_t offset, int from);
int ftruncate(int file, off_t length);
int fsync(int file);
int flock(int file, int operation);
int rename(const char *from, const char *to);
int renameat(int fromFolder, const char *from, int toFolder, const char *to);
int unlink(const char *path);
int unlinkat(int folder, const char *path, int flags);
int mkdir(const char *path, mode_t mode);
int mkdirat(int folder, const char *path, mode_t mode);
int mkfifo(const char *path, mode_t mode);
int truncate(const char *path, off_t length);
int rmdir(const char *path);
int chmod(const char *path, mode_t mode);
int fchmod(int file, mode_t mode);
int access(const char *path, int mode);
#define W_OK 2
int dup(int file);
int dup2(int file, int other);
int pipe(int files[2]);
char *mkdtemp(char *pattern);
int mkstemp(char *pattern);
char *realpath(const char *path, char *resolved);
#define O_RDONLY 0x0000
#define O_WRONLY 0x0001
#define O_RDWR 0x0002
#define O_NONBLOCK 0x0004
#define O_APPEND 0x0008
#define O_NOFOLLOW 0x0100
#define AT_SYMLINK_NOFOLLOW 0x0020
#define O_CREAT 0x0200
#define O_TRUNC 0x0400
#define O_EXCL 0x0800
#define O_DIRECTORY 0x100000
#define O_CLOEXEC 0x1000000
#define F_GETFD 1
#define F_SETFD 2
#define F_GETFL 3
#define F_SETFL 4
#define F_FULLFSYNC 51
#define F_BARRIERFSYNC 85
#define F_GETPATH 50
#define PATH_MAX 1024
#define FD_CLOEXEC 1
#define AT_FDCWD -2
#define LOCK_SH 0x01
#define LOCK_EX 0x02
#define LOCK_NB 0x04
#define LOCK_UN 0x08
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
struct dirent {
    uint64_t d_ino;
    uint64_t d_seekoff;
    uint16_t d_reclen;
    uint16_t d_namlen;
    uint8_t d_type;
    char d_name[1024];
};
typedef struct _DIR { int stub; } DIR;
DIR *opendir(const char *path);
DIR *fdopendir(int file);
struct dirent *readdir(DIR *folder);
int closedir(DIR *folder);

// Standard input and output
typedef struct __sFILE { int stub; } FILE;
extern FILE *__stdinp, *__stdoutp, *__stderrp;
#define stdin __stdinp
#define stdout __stdoutp
#define stderr __stderrp
int fflush(FILE *file);
int fputs(const char *text, FILE *file);
int isatty(int file);
struct winsize { unsigned short ws_row, ws_col, ws_xpixel, ws_ypixel; };
#define TIOCGWINSZ 0x40087468UL
typedef unsigned long tcflag_t;
typedef unsigned char cc_t;
typedef unsigned long speed_t;
struct termios {
    tcflag_t c_iflag, c_oflag, c_cflag, c_lflag;
    cc_t c_cc[20];
    speed_t c_ispeed, c_ospeed;
};
#define ECHO 0x00000008
#define ICANON 0x00000100
#define TCSANOW 0
int tcgetattr(int file, struct termios *mode);
int tcsetattr(int file, int when, const struct termios *mode);
pid_t tcgetpgrp(int file);
pid_t getpgrp(void);

// Sockets
struct in_addr { in_addr_t s_addr; };
struct in6_addr { union { uint8_t __u6_addr8[16]; uint16_t __u6_addr16[8]; uint32_t __u6_addr32[4]; } __u6_addr; };
struct sockaddr { uint8_t sa_len; sa_family_t sa_family; char sa_data[14]; };
struct sockaddr_in {
    uint8_t sin_len;
    sa_family_t sin_family;
    in_port_t sin_port;
    struct in_addr sin_addr;
    char sin_zero[8];
};
struct linger { int l_onoff; int l_linger; };
struct pollfd { int fd; short events; short revents; };
int socket(int domain, int type, int protocol);
int bind(int socket, const struct sockaddr *address, socklen_t length);
int listen(int socket, int backlog);
int accept(int socket, struct sockaddr *address, socklen_t *length);
int connect(int socket, const struct sockaddr *address, socklen_t length);
ssize_t send(int socket, const void *bytes, size_t count, int flags);
ssize_t recv(int socket, void *bytes, size_t count, int flags);
int setsockopt(int socket, int level, int name, const void *value, socklen_t length);
int getsockopt(int socket, int level, int name, void *value, socklen_t *length);
int getsockname(int socket, struct sockaddr *address, socklen_t *length);
int shutdown(int socket, int how);
int poll(struct pollfd *polls, nfds_t count, int milliseconds);
int inet_pton(int family, const char *text, void *address);
#define SOMAXCONN 128
#define AF_INET 2
#define AF_INET6 30
#define SOCK_STREAM 1
#define SOL_SOCKET 0xffff
#define SO_REUSEADDR 0x0004
#define SO_RCVTIMEO 0x1006
#define SO_LINGER 0x0080
#define SO_SNDBUF 0x1001
#define SO_NOSIGPIPE 0x1022
#define SO_ERROR 0x1007
#define IPPROTO_TCP 6
#define TCP_NODELAY 0x01
#define MSG_PEEK 0x2
#define MSG_WAITALL 0x40
#define SHUT_RD 0
#define SHUT_WR 1
#define SHUT_RDWR 2
#define POLLIN 0x0001
#define POLLOUT 0x0004
#define POLLERR 0x0008
#define POLLHUP 0x0010
#define POLLNVAL 0x0020

// Processes and signals
_Noreturn void exit(int status);
_Noreturn void _exit(int status);
_Noreturn void abort(void);
char *getenv(const char *name);
pid_t getpid(void);
uid_t getuid(void);
uid_t geteuid(void);
int kill(pid_t process, int signal);
int raise(int signal);
typedef void (*sig_t)(int);
void (*signal(int number, void (*handler)(int)))(int);
int sigemptyset(sigset_t *set);
int sigfillset(sigset_t *set);
int sigaddset(sigset_t *set, int signal);
int pthread_sigmask(int how, const sigset_t *set, sigset_t *before);
#define SIG_BLOCK 1
#define SIG_UNBLOCK 2
#define SIG_SETMASK 3
union __sigaction_u {
    void (*__sa_handler)(int);
    void (*__sa_sigaction)(int, struct __siginfo *, void *);
};
struct sigaction {
    union __sigaction_u __sigaction_u;
    sigset_t sa_mask;
    int sa_flags;
};
int sigaction(int number, const struct sigaction *action, struct sigaction *before);
#define SA_ONSTACK 0x0001
int pause(void);
unsigned int alarm(unsigned int seconds);
void *dlopen(const char *path, int mode);
void *dlsym(void *library, const char *name);
#define RTLD_NOW 0x2
#define SIGHUP 1
#define SIGINT 2
#define SIGQUIT 3
#define SIGILL 4
#define SIGTRAP 5
#define SIGABRT 6
#define SIGFPE 8
#define SIGKILL 9
#define SIGBUS 10
#define SIGSEGV 11
#define SIGPIPE 13
#define SIGALRM 14
#define SIGTERM 15
#define SIGSTOP 17
#define SIGTSTP 18
#define SIGCONT 19
#define SIGCHLD 20
#define SIGWINCH 28
#define WNOHANG 1
#define WEXITED 4
pid_t waitpid(pid_t process, int *status, int options);
typedef enum { P_ALL, P_PID, P_PGID } idtype_t;
union sigval { int sival_int; void *sival_ptr; };
typedef struct __siginfo {
    int si_signo, si_errno, si_code;
    pid_t si_pid;
    uid_t si_uid;
    int si_status;
    void *si_addr;
    union sigval si_value;
    long si_band;
    unsigned long __pad[7];
} siginfo_t;
int waitid(idtype_t kind, id_t id, siginfo_t *info, int options);
#define WNOWAIT 0x20
#define CLD_EXITED 1
#define CLD_KILLED 2
#define CLD_DUMPED 3
struct rlimit { rlim_t rlim_cur, rlim_max; };
int getrlimit(int resource, struct rlimit *limit);
int setrlimit(int resource, const struct rlimit *limit);
#define RLIMIT_CORE 4
#define RLIMIT_FSIZE 1
#define RLIMIT_NOFILE 8
#define OPEN_MAX 10240
struct rusage {
    struct timeval ru_utime, ru_stime;
    long ru_maxrss, ru_ixrss, ru_idrss, ru_isrss, ru_minflt, ru_majflt, ru_nswap, ru_inblock, ru_oublock, ru_msgsnd;
    long ru_msgrcv, ru_nsignals, ru_nvcsw, ru_nivcsw;
};
int getrusage(int whose, struct rusage *usage);
#define RUSAGE_SELF 0
typedef void *posix_spawnattr_t;
typedef void *posix_spawn_file_actions_t;
int posix_spawn_file_actions_init(posix_spawn_file_actions_t *actions);
int posix_spawn_file_actions_destroy(posix_spawn_file_actions_t *actions);
int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *actions, int file, int other);
int posix_spawn_file_actions_addclose(posix_spawn_file_actions_t *actions, int file);
int posix_spawnattr_init(posix_spawnattr_t *attributes);
int posix_spawnattr_destroy(posix_spawnattr_t *attributes);
int posix_spawnattr_setflags(posix_spawnattr_t *attributes, short flags);
int posix_spawnattr_setsigmask(posix_spawnattr_t *restrict attributes, const sigset_t *restrict signals);
int posix_spawnattr_setsigdefault(posix_spawnattr_t *restrict attributes, const sigset_t *restrict signals);
#define POSIX_SPAWN_SETSIGDEF 0x0004
#define POSIX_SPAWN_SETSIGMASK 0x0008
#define POSIX_SPAWN_CLOEXEC_DEFAULT 0x4000

// Threads; audited headers
#pragma clang assume_nonnull begin
typedef struct _opaque_pthread_t { long __sig; char __opaque[8176]; } *pthread_t;
typedef struct _opaque_pthread_attr_t { long __sig; char __opaque[56]; } pthread_attr_t;
typedef struct _opaque_pthread_mutex_t { long __sig; char __opaque[56]; } pthread_mutex_t;
// Swift refuses these in asynchronous functions, which may go on on another thread.
#define NO_ASYNC __attribute__((swift_attr("@_unavailableFromAsync")))
typedef struct _opaque_pthread_mutexattr_t { long __sig; char __opaque[8]; } pthread_mutexattr_t;
typedef struct _opaque_pthread_cond_t { long __sig; char __opaque[40]; } pthread_cond_t;
typedef struct _opaque_pthread_condattr_t { long __sig; char __opaque[8]; } pthread_condattr_t;
typedef unsigned long pthread_key_t;
int pthread_create(
    pthread_t _Nullable *_Nonnull thread, const pthread_attr_t *_Nullable attributes,
    void *_Nullable (*_Nonnull start)(void *_Nullable), void *_Nullable argument);
int pthread_join(pthread_t thread, void *_Nullable *_Nullable value) NO_ASYNC;
int pthread_detach(pthread_t thread);
pthread_t pthread_self(void);
int pthread_equal(pthread_t _Nullable thread, pthread_t _Nullable other);
int pthread_threadid_np(pthread_t _Nullable thread, uint64_t *_Nullable identity);
int pthread_setname_np(const char *name) NO_ASYNC;
int pthread_attr_init(pthread_attr_t *attributes);
int pthread_attr_destroy(pthread_attr_t *attributes);
int pthread_attr_setstacksize(pthread_attr_t *attributes, size_t size);
int pthread_attr_setdetachstate(pthread_attr_t *attributes, int state);
size_t pthread_get_stacksize_np(pthread_t thread);
void *pthread_get_stackaddr_np(pthread_t thread);
int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *_Nullable attributes);
int pthread_mutex_destroy(pthread_mutex_t *mutex);
int pthread_mutex_lock(pthread_mutex_t *mutex) NO_ASYNC;
int pthread_mutex_trylock(pthread_mutex_t *mutex) NO_ASYNC;
int pthread_mutex_unlock(pthread_mutex_t *mutex) NO_ASYNC;
int pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *_Nullable attributes);
int pthread_cond_destroy(pthread_cond_t *condition);
int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) NO_ASYNC;
int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *_Nullable time) NO_ASYNC;
int pthread_cond_timedwait_relative_np(
    pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *_Nullable time) NO_ASYNC;
int pthread_cond_signal(pthread_cond_t *condition);
int pthread_cond_broadcast(pthread_cond_t *condition);
int pthread_key_create(pthread_key_t *key, void (*_Nullable destructor)(void *_Nonnull));
int pthread_key_delete(pthread_key_t key);
int pthread_setspecific(pthread_key_t key, const void *_Nullable value) NO_ASYNC;
void *_Nullable pthread_getspecific(pthread_key_t key) NO_ASYNC;
typedef struct os_unfair_lock_s { uint32_t _os_unfair_lock_opaque; } os_unfair_lock, *os_unfair_lock_t;
void os_unfair_lock_lock(os_unfair_lock_t lock) NO_ASYNC;
_Bool os_unfair_lock_trylock(os_unfair_lock_t lock) NO_ASYNC;
void os_unfair_lock_unlock(os_unfair_lock_t lock) NO_ASYNC;
#pragma clang assume_nonnull end
int sched_yield(void);

// Time
typedef enum : unsigned int { _CLOCK_REALTIME = 0 } clockid_t;
int clock_gettime(clockid_t clock, struct timespec *time);
uint64_t clock_gettime_nsec_np(clockid_t clock);
int nanosleep(const struct timespec *time, struct timespec *rest);
int usleep(useconds_t microseconds);
unsigned int sleep(unsigned int seconds);

// Memory, and the machine
void *malloc(size_t size);
void free(void *memory);
void *memcpy(void *to, const void *from, size_t count);
void *memmove(void *to, const void *from, size_t count);
void *memset(void *to, int byte, size_t count);
int memcmp(const void *left, const void *right, size_t count);
void *memchr(const void *bytes, int byte, size_t count);
char *strdup(const char *text);
size_t strlen(const char *text);
int sysctlbyname(const char *name, void *value, size_t *length, void *newValue, size_t newLength);
long sysconf(int name);
#define _SC_PAGESIZE 29
#define _SC_NPROCESSORS_ONLN 58
double pow(double base, double exponent);
double exp(double exponent);
double log(double value);
double log2(double value);
double log10(double value);
double lgamma(double value);
