/* Writes down what a process does to the files of one folder: each write, cut, sync, new name and lost name, in the order
 * in which they are done by all processes together. Loaded with LD_PRELOAD; POWERCUT_JOURNAL is the file to write to and
 * POWERCUT_FOLDER the beginning of the paths that count.
 *
 * A record is a head of fixed size, then the path, then the data. A change is written down after it was done and before
 * anybody is told; a sync twice, when it begins (S) and when it has ended (E). So every change that stands before an S is
 * on the disk once its E stands there.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

struct head {
    uint32_t kind, path_length, data_length, token;
    uint64_t inode, offset;
};

static int journal = -1;
static const char *folder;
static uint32_t tokens;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("POWERCUT_JOURNAL");
    folder = getenv("POWERCUT_FOLDER");
    if (path && folder)
        journal = (int)syscall(SYS_openat, AT_FDCWD, path, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
}

static int counts(const char *path) { return journal >= 0 && !strncmp(path, folder, strlen(folder)); }

static int path_of(int file, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    return counts(path);
}

static uint64_t inode_of(int file) {
    struct stat found;
    return fstat(file, &found) ? 0 : found.st_ino;
}

static void note(char kind, const char *path, uint64_t inode, uint64_t offset, const void *data, size_t size, uint32_t token) {
    int kept = errno;
    struct head head = {(uint32_t)kind, (uint32_t)strlen(path), (uint32_t)size, token, inode, offset};
    struct iovec parts[] = {{&head, sizeof head}, {(void *)path, head.path_length}, {(void *)data, size}};
    if (syscall(SYS_writev, journal, parts, 3) < 0)
        abort();
    errno = kept;
}

static ssize_t written(int file, const void *data, ssize_t size, off64_t offset) {
    char path[PATH_MAX];
    if (size > 0 && path_of(file, path))
        note('W', path, inode_of(file), (uint64_t)offset, data, (size_t)size, 0);
    return size;
}

ssize_t write(int file, const void *data, size_t size) {
    ssize_t done = REAL(write)(file, data, size);
    char path[PATH_MAX];
    if (done > 0 && journal >= 0 && path_of(file, path)) /* after an append, the place in the file is its new end */
        written(file, data, done, lseek64(file, 0, SEEK_CUR) - done);
    return done;
}

ssize_t pwrite(int file, const void *data, size_t size, off_t offset) {
    return written(file, data, REAL(pwrite)(file, data, size, offset), offset);
}

ssize_t pwrite64(int file, const void *data, size_t size, off64_t offset) {
    return written(file, data, REAL(pwrite64)(file, data, size, offset), offset);
}

static int cut(int file, int done, off64_t size) {
    char path[PATH_MAX];
    if (!done && path_of(file, path))
        note('T', path, inode_of(file), (uint64_t)size, "", 0, 0);
    return done;
}

int ftruncate(int file, off_t size) { return cut(file, REAL(ftruncate)(file, size), size); }
int ftruncate64(int file, off64_t size) { return cut(file, REAL(ftruncate64)(file, size), size); }

static int synced(int file, int (*real)(int)) {
    char path[PATH_MAX];
    if (!path_of(file, path))
        return real(file);
    uint32_t token = (uint32_t)getpid() << 12 ^ __sync_add_and_fetch(&tokens, 1);
    uint64_t inode = inode_of(file);
    note('S', path, inode, 0, "", 0, token);
    int done = real(file);
    if (!done)
        note('E', path, inode, 0, "", 0, token);
    return done;
}

int fsync(int file) { return synced(file, REAL(fsync)); }
int fdatasync(int file) { return synced(file, REAL(fdatasync)); }

/* Names are changed one at a time, so that what is written down about them is in order too. */
static int alone(void) {
    int lock = (int)syscall(SYS_openat, AT_FDCWD, getenv("POWERCUT_JOURNAL"), O_RDONLY | O_CLOEXEC);
    if (lock < 0 || syscall(SYS_flock, lock, LOCK_EX))
        abort();
    return lock;
}

static void together(int lock) {
    int kept = errno;
    syscall(SYS_close, lock);
    errno = kept;
}

static int removed(const char *path, int done) {
    char whole[PATH_MAX];
    if (!done && path[0] != '/' && getcwd(whole, sizeof whole - 256))
        strcat(strcat(whole, "/"), path);
    else
        strncpy(whole, path, sizeof whole - 1);
    if (!done && counts(whole))
        note('U', whole, 0, 0, "", 0, 0);
    return done;
}

int unlink(const char *path) {
    if (journal < 0)
        return REAL(unlink)(path);
    int lock = alone(), done = removed(path, REAL(unlink)(path));
    together(lock);
    return done;
}

static int made(const char *path, int flags, mode_t mode, int (*real)(const char *, int, ...)) {
    int file = real(path, flags | O_EXCL, mode); /* only whoever makes a file says that it is new */
    if (file < 0) {
        if (errno != EEXIST || flags & O_EXCL)
            return file;
        return real(path, flags, mode);
    }
    char whole[PATH_MAX];
    if (path_of(file, whole))
        note('C', whole, inode_of(file), 0, "", 0, 0);
    return file;
}

static int opened(const char *path, int flags, mode_t mode, int (*real)(const char *, int, ...)) {
    if (!(flags & O_CREAT) || journal < 0)
        return real(path, flags, mode);
    int lock = alone(), file = made(path, flags, mode, real);
    together(lock);
    return file;
}

#define MODE(flags) \
    mode_t mode = 0; \
    if (flags & O_CREAT) { \
        va_list rest; \
        va_start(rest, flags); \
        mode = va_arg(rest, mode_t); \
        va_end(rest); \
    }

int open(const char *path, int flags, ...) {
    MODE(flags)
    return opened(path, flags, mode, REAL(open));
}

int open64(const char *path, int flags, ...) {
    MODE(flags)
    return opened(path, flags, mode, REAL(open64));
}
