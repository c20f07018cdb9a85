/*
 * LD_PRELOAD: records every call that changes files below RECORD_ROOT, in one order, into RECORD_FILE.
 *
 * A change is made and recorded under one lock, so the order of records is the order of changes. A sync is two records, its begin and its end,
 * with the lock free between them: what others change meanwhile is not covered by it. RECORD_KILL_AFTER=N ends the process by SIGKILL after its
 * N-th record, under the lock: no change is ever made and not recorded. With RECORD_KILL_AT_WRITE=PART
 * it is the first write from the N-th on to a file whose path has this part, so that what was written is not synced; with
 * RECORD_KILL_AT_TEXT=PART to whatever file, whose bytes have it; with RECORD_KILL_AT_RENAME=PART the first rename to a path that has it.
 *
 * Record: struct header, first path, second path, bytes (left out when they are all zeros). Little endian, as this machine has it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { CREATE = 1, WRITE, TRUNCATE, SYNC_BEGIN, SYNC_END, RENAME, LINK, UNLINK, MKDIR, RMDIR, CHMOD, LIFE };

struct header {
  uint32_t record_bytes;
  uint8_t op;
  uint8_t is_zeros;
  uint16_t path_bytes;
  uint16_t to_bytes;
  uint16_t mode;
  uint32_t token;
  uint64_t inode;
  uint64_t offset;
  uint64_t length;
};

#define RECORD_FD 1000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char root[PATH_MAX];
static size_t root_bytes;
static int record_fd = -1;
static long records;
static long kill_after = -1;
static const char *kill_at_write;
static const char *kill_at_text;
static const char *kill_at_rename;
/* What the last descriptor that this thread asked about is. */
static __thread char path_of_fd[PATH_MAX];
static uint32_t next_token;

#define REAL(name) ((__typeof__(&name))real(#name))
static void *real(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (found == NULL) {
    fprintf(stderr, "record-calls: no %s\n", name);
    abort();
  }
  return found;
}

static void give_up(const char *what) {
  fprintf(stderr, "record-calls: %s: %s\n", what, strerror(errno));
  abort();
}

static int is_zeros(const char *bytes, size_t length) {
  return length > 0 && bytes[0] == 0 && memcmp(bytes, bytes + 1, length - 1) == 0;
}

/* Below the root, as an absolute path without its prefix; NULL for what is not ours. */
static const char *below(const char *path) {
  if (root_bytes == 0 || path[0] != '/' || strncmp(path, root, root_bytes) != 0 || path[root_bytes] != '/') return NULL;
  return path + root_bytes + 1;
}

static int is_last(uint8_t op, const char *to, const char *bytes, size_t length) {
  if (kill_after < 0 || records < kill_after) return 0;
  if (kill_at_text != NULL) return op == WRITE && memmem(bytes, length, kill_at_text, strlen(kill_at_text)) != NULL;
  if (kill_at_write != NULL) return op == WRITE && strstr(path_of_fd, kill_at_write) != NULL;
  return kill_at_rename == NULL || (op == RENAME && strstr(to, kill_at_rename) != NULL);
}

static void put(uint8_t op, const char *path, const char *to, struct header head, const char *bytes) {
  head.op = op;
  head.path_bytes = path == NULL ? 0 : strlen(path);
  head.to_bytes = to == NULL ? 0 : strlen(to);
  head.is_zeros = bytes != NULL && is_zeros(bytes, head.length);
  size_t data = bytes == NULL || head.is_zeros ? 0 : head.length;
  head.record_bytes = sizeof head + head.path_bytes + head.to_bytes + data;
  struct iovec parts[] = {
      {&head, sizeof head}, {(void *)path, head.path_bytes}, {(void *)to, head.to_bytes}, {(void *)bytes, data}};
  if (REAL(writev)(record_fd, parts, 4) != (ssize_t)head.record_bytes) give_up("the record can't be written");
  records += 1;
  if (is_last(op, to, bytes, head.length)) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
  }
}

__attribute__((constructor)) static void begin(void) {
  const char *folder = getenv("RECORD_ROOT");
  const char *file = getenv("RECORD_FILE");
  const char *limit = getenv("RECORD_KILL_AFTER");
  if (folder == NULL || file == NULL) return;
  int fd = REAL(open)(file, O_WRONLY | O_APPEND | O_CREAT, 0600);
  if (fd < 0 || (record_fd = fcntl(fd, F_DUPFD_CLOEXEC, RECORD_FD)) < 0) give_up(file);
  close(fd);
  if (realpath(folder, root) == NULL) give_up(folder);
  root_bytes = strlen(root);
  kill_after = limit == NULL ? -1 : atol(limit);
  kill_at_write = getenv("RECORD_KILL_AT_WRITE");
  kill_at_text = getenv("RECORD_KILL_AT_TEXT");
  kill_at_rename = getenv("RECORD_KILL_AT_RENAME");
  next_token = (uint32_t)getpid() << 16;
  pthread_mutex_lock(&lock);
  put(LIFE, NULL, NULL, (struct header){0}, NULL);
  pthread_mutex_unlock(&lock);
}

/* The file or folder behind a descriptor, when it lies below the root, whoever opened it. */
static int ours(int fd, struct stat *found) {
  char link_name[64];
  if (record_fd < 0) return 0;
  snprintf(link_name, sizeof link_name, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link_name, path_of_fd, sizeof path_of_fd - 1);
  if (length < 0) return 0;
  path_of_fd[length] = 0;
  if (below(path_of_fd) == NULL && strcmp(path_of_fd, root) != 0) return 0;
  return fstat(fd, found) == 0 && (S_ISREG(found->st_mode) || S_ISDIR(found->st_mode));
}

static int opened(int (*call)(const char *, int, ...), const char *path, int flags, mode_t mode) {
  const char *name = record_fd < 0 ? NULL : below(path);
  if (name == NULL) return call(path, flags, mode);
  pthread_mutex_lock(&lock);
  struct stat before, after;
  int was_there = lstat(path, &before) == 0;
  int fd = call(path, flags, mode);
  int error = errno;
  if (fd >= 0) {
    if (fstat(fd, &after) != 0) give_up(path);
    if (!was_there && (flags & O_CREAT))
      put(CREATE, name, NULL, (struct header){.inode = after.st_ino, .mode = after.st_mode & 07777}, NULL);
    else if ((flags & O_TRUNC) && was_there && before.st_size > 0)
      put(TRUNCATE, NULL, NULL, (struct header){.inode = after.st_ino}, NULL);
  }
  pthread_mutex_unlock(&lock);
  errno = error;
  return fd;
}

static mode_t mode_of(int flags, va_list rest) {
  return flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;
}

int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return opened(REAL(open), path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return opened(REAL(open64), path, flags, mode);
}

/* `position` is -1 for the descriptor's own. */
static ssize_t written(int fd, const struct iovec *parts, int count, off64_t position) {
  struct stat before;
  if (!ours(fd, &before))
    return position < 0 ? REAL(writev)(fd, parts, count) : REAL(pwritev64)(fd, parts, count, position);
  pthread_mutex_lock(&lock);
  if (fstat(fd, &before) != 0) give_up("fstat");
  off64_t at = position;
  if (fcntl(fd, F_GETFL) & O_APPEND)
    at = before.st_size;
  else if (position < 0)
    at = lseek64(fd, 0, SEEK_CUR);
  ssize_t done = position < 0 ? REAL(writev)(fd, parts, count) : REAL(pwritev64)(fd, parts, count, position);
  int error = errno;
  if (done > 0) {
    char *bytes = malloc(done);
    if (bytes == NULL) give_up("malloc");
    size_t filled = 0;
    for (int part = 0; part < count && filled < (size_t)done; part++) {
      size_t length = parts[part].iov_len < done - filled ? parts[part].iov_len : done - filled;
      memcpy(bytes + filled, parts[part].iov_base, length);
      filled += length;
    }
    put(WRITE, NULL, NULL, (struct header){.inode = before.st_ino, .offset = at, .length = done}, bytes);
    free(bytes);
  }
  pthread_mutex_unlock(&lock);
  errno = error;
  return done;
}

ssize_t write(int fd, const void *bytes, size_t length) {
  struct stat found;
  if (!ours(fd, &found)) return REAL(write)(fd, bytes, length);
  return written(fd, &(struct iovec){(void *)bytes, length}, 1, -1);
}
ssize_t writev(int fd, const struct iovec *parts, int count) { return written(fd, parts, count, -1); }
ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) { return written(fd, &(struct iovec){(void *)bytes, length}, 1, at); }
ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) {
  return written(fd, &(struct iovec){(void *)bytes, length}, 1, at);
}
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) { return written(fd, parts, count, at); }
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at) { return written(fd, parts, count, at); }

static int truncated(int (*call)(int, off64_t), int fd, off64_t length) {
  struct stat found;
  if (!ours(fd, &found)) return call(fd, length);
  pthread_mutex_lock(&lock);
  int result = call(fd, length);
  int error = errno;
  if (result == 0) put(TRUNCATE, NULL, NULL, (struct header){.inode = found.st_ino, .offset = length}, NULL);
  pthread_mutex_unlock(&lock);
  errno = error;
  return result;
}
int ftruncate(int fd, off_t length) { return truncated(REAL(ftruncate), fd, length); }
int ftruncate64(int fd, off64_t length) { return truncated(REAL(ftruncate64), fd, length); }

/* `mode` of a sync's records is 1 where only data and size are asked for. */
static int synced(int (*call)(int), int fd, int is_data_only) {
  struct stat found;
  if (!ours(fd, &found)) return call(fd);
  pthread_mutex_lock(&lock);
  struct header head = {.inode = found.st_ino, .mode = is_data_only, .token = ++next_token};
  put(SYNC_BEGIN, NULL, NULL, head, NULL);
  pthread_mutex_unlock(&lock);
  int result = call(fd);
  int error = errno;
  pthread_mutex_lock(&lock);
  if (result == 0) put(SYNC_END, NULL, NULL, head, NULL);
  pthread_mutex_unlock(&lock);
  errno = error;
  return result;
}
int fsync(int fd) { return synced(REAL(fsync), fd, 0); }
int fdatasync(int fd) { return synced(REAL(fdatasync), fd, 1); }

#define UNDER_LOCK(call, record)          \
  pthread_mutex_lock(&lock);              \
  int result = call;                      \
  int error = errno;                      \
  if (result == 0) record;                \
  pthread_mutex_unlock(&lock);            \
  errno = error;                          \
  return result

int rename(const char *from, const char *to) {
  const char *old = below(from), *name = below(to);
  if (record_fd < 0 || old == NULL || name == NULL) return REAL(rename)(from, to);
  UNDER_LOCK(REAL(rename)(from, to), put(RENAME, old, name, (struct header){0}, NULL));
}

int link(const char *from, const char *to) {
  const char *old = below(from), *name = below(to);
  if (record_fd < 0 || old == NULL || name == NULL) return REAL(link)(from, to);
  UNDER_LOCK(REAL(link)(from, to), put(LINK, old, name, (struct header){0}, NULL));
}

int unlink(const char *path) {
  const char *name = below(path);
  if (record_fd < 0 || name == NULL) return REAL(unlink)(path);
  UNDER_LOCK(REAL(unlink)(path), put(UNLINK, name, NULL, (struct header){0}, NULL));
}

int rmdir(const char *path) {
  const char *name = below(path);
  if (record_fd < 0 || name == NULL) return REAL(rmdir)(path);
  UNDER_LOCK(REAL(rmdir)(path), put(RMDIR, name, NULL, (struct header){0}, NULL));
}

int remove(const char *path) {
  struct stat found;
  return lstat(path, &found) == 0 && S_ISDIR(found.st_mode) ? rmdir(path) : unlink(path);
}

int unlinkat(int folder, const char *path, int flags) {
  char name[PATH_MAX * 2];
  struct stat found;
  if (record_fd < 0 || path[0] == '/' || folder == AT_FDCWD || !ours(folder, &found)) {
    if (record_fd >= 0 && below(path) != NULL) return flags & AT_REMOVEDIR ? rmdir(path) : unlink(path);
    return REAL(unlinkat)(folder, path, flags);
  }
  char link_name[64];
  snprintf(link_name, sizeof link_name, "/proc/self/fd/%d", folder);
  ssize_t length = readlink(link_name, name, PATH_MAX);
  if (length < 0) give_up(link_name);
  snprintf(name + length, PATH_MAX, "/%s", path);
  return flags & AT_REMOVEDIR ? rmdir(name) : unlink(name);
}

int mkdir(const char *path, mode_t mode) {
  const char *name = below(path);
  if (record_fd < 0 || name == NULL) return REAL(mkdir)(path, mode);
  struct stat made;
  UNDER_LOCK(REAL(mkdir)(path, mode),
             (stat(path, &made), put(MKDIR, name, NULL, (struct header){.inode = made.st_ino, .mode = made.st_mode & 07777}, NULL)));
}

int fchmod(int fd, mode_t mode) {
  struct stat found;
  if (!ours(fd, &found)) return REAL(fchmod)(fd, mode);
  UNDER_LOCK(REAL(fchmod)(fd, mode), put(CHMOD, NULL, NULL, (struct header){.inode = found.st_ino, .mode = mode & 07777}, NULL));
}

int chmod(const char *path, mode_t mode) {
  struct stat found;
  if (record_fd < 0 || below(path) == NULL || stat(path, &found) != 0) return REAL(chmod)(path, mode);
  UNDER_LOCK(REAL(chmod)(path, mode), put(CHMOD, NULL, NULL, (struct header){.inode = found.st_ino, .mode = mode & 07777}, NULL));
}
