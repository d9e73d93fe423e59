/* SPDX-License-Identifier: Apache-2.0 */
/* Reading regular files, and replacing files in one step. No buffering of reads, no formats. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h> /* renameat */
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/inject.h"
#include "base/sys.h"
#include "base/sys_file.h"
#include "base/text.h"

static mxci_injector write_injector;

void mxci_test_fail_write(int64_t fail_at) {
    mxci_inject_set(&write_injector, fail_at, 0);
}

/* 1, with errno set, if this write, flush or rename is to fail. */
static int write_refused(void) {
    if (!mxci_inject(&write_injector))
        return 0;
    errno = ENOSPC;
    return 1;
}

static const char *reason(int error) {
    const char *text = strerrordesc_np(error);
    return text ? text : "unknown error";
}

/* A path for a message; of a long one, its end. */
static const char *shown(const char *path) {
    size_t n = strlen(path);
    return n > 300 ? path + n - 300 : path;
}

/* ---- readers ---- */

struct mxci_file {
    int fd;
    int64_t size;
    char path[];
};

/* O_NONBLOCK: opening a FIFO without a writer would block before it can be seen that it is not a regular file. */
mxc_status mxci_file_open(const char *path, mxci_file **out) {
    struct stat st;
    size_t bytes = strlen(path) + 1;
    mxci_file *file;
    int fd;
    *out = NULL;
    do
        fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    if (fd < 0) {
        mxc_status code = errno == ENOENT || errno == ENOTDIR ? MXC_ENOTFOUND : MXC_EIO;
        return MXC_FAIL(code, "%s: cannot open: %s", shown(path), reason(errno));
    }
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return MXC_FAIL(MXC_EIO, "%s: not a regular file", shown(path));
    }
    file = mxci_alloc(sizeof *file + bytes);
    if (!file) {
        close(fd);
        return MXC_FAIL(MXC_ENOMEM, "%s: out of memory while opening", shown(path));
    }
    file->fd = fd;
    file->size = st.st_size;
    memcpy(file->path, path, bytes);
    *out = file;
    return MXC_OK;
}

int64_t mxci_file_size(const mxci_file *file) {
    return file->size;
}

const char *mxci_file_path(const mxci_file *file) {
    return file->path;
}

/* pread has no shared position, so several threads may read at once. */
mxc_status mxci_file_read_at(mxci_file *file, int64_t offset, void *out, size_t bytes) {
    char *to = out;
    size_t done = 0;
    if (offset < 0 || bytes > (uint64_t)INT64_MAX - (uint64_t)offset)
        return MXC_FAIL(MXC_EFORMAT, "%s: cannot read %zu bytes at offset %lld", shown(file->path), bytes,
                        (long long)offset);
    while (done < bytes) {
        ssize_t n = pread(file->fd, to + done, bytes - done, (off_t)(offset + (int64_t)done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return MXC_FAIL(MXC_EIO, "%s: cannot read at offset %lld: %s", shown(file->path),
                            (long long)(offset + (int64_t)done), reason(errno));
        if (n == 0)
            return MXC_FAIL(MXC_EFORMAT, "%s: truncated: expected %zu bytes at offset %lld, found %zu",
                            shown(file->path), bytes, (long long)offset, done);
        done += (size_t)n;
    }
    return MXC_OK;
}

void mxci_file_close(mxci_file *file) {
    if (!file)
        return;
    close(file->fd);
    mxci_free(file);
}

/* The whole file and a terminating NUL in one block, which the caller frees. */
static mxc_status read_all(mxci_file *file, int64_t limit, char **out, size_t *out_bytes) {
    mxc_status status;
    size_t bytes = (size_t)file->size;
    char *data;
    if (file->size > limit)
        return MXC_FAIL(MXC_EFORMAT, "%s: has %lld bytes, at most %lld are accepted", shown(file->path),
                        (long long)file->size, (long long)limit);
    data = mxci_alloc(bytes + 1);
    if (!data)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for its %zu bytes", shown(file->path), bytes);
    status = mxci_file_read_at(file, 0, data, bytes);
    if (status != MXC_OK) {
        mxci_free(data);
        return status;
    }
    data[bytes] = '\0';
    *out = data;
    *out_bytes = bytes;
    return MXC_OK;
}

mxc_status mxci_file_read_all(const char *path, int64_t limit, char **out, size_t *out_bytes) {
    mxc_status status;
    mxci_file *file;
    *out = NULL;
    *out_bytes = 0;
    MXC_TRY(mxci_file_open(path, &file));
    status = read_all(file, limit, out, out_bytes);
    mxci_file_close(file);
    return status;
}

/* ---- the writer ---- */

enum { WRITE_BUFFER = 65536, SUFFIX = 48 };

struct mxci_writer {
    int fd, directory;
    int error;       /* errno of the first failure, 0 if none: nothing is written after it */
    int64_t written; /* bytes handed to the system */
    size_t buffered;
    char *path;            /* as the caller gave it */
    const char *target;    /* name inside directory, links followed */
    const char *temporary; /* name inside directory; NULL while there is no such file */
    char buffer[WRITE_BUFFER];
    char names[]; /* room for target and temporary */
};

static mxc_status write_failed(const char *path, const char *what, int error) {
    return MXC_FAIL(error == ENOMEM ? MXC_ENOMEM : MXC_EIO, "%s: cannot %s: %s", shown(path), what, reason(error));
}

/* Follow links in the last part of path, so that what a link names is replaced, not the link. Writes the result, at
 * most PATH_MAX bytes, to out; returns an errno. */
static int follow_links(const char *path, char *out) {
    char link[PATH_MAX];
    if (strlen(path) >= PATH_MAX)
        return ENAMETOOLONG;
    strcpy(out, path);
    for (int hops = 0; hops < 40; hops++) {
        ssize_t n = readlink(out, link, sizeof link - 1);
        char *slash = strrchr(out, '/');
        size_t keep;
        if (n < 0)
            return errno == EINVAL || errno == ENOENT ? 0 : errno;
        keep = link[0] == '/' || !slash ? 0 : (size_t)(slash + 1 - out);
        if (keep + (size_t)n >= PATH_MAX)
            return ENAMETOOLONG;
        memcpy(out + keep, link, (size_t)n);
        out[keep + (size_t)n] = '\0';
    }
    return ELOOP;
}

/* Split path in place and open its directory; *name is what follows. Returns an errno. */
static int open_directory(char *path, char **name, int *fd) {
    char *slash = strrchr(path, '/');
    const char *directory = slash ? path : ".";
    *name = slash ? slash + 1 : path;
    if (**name == '\0')
        return slash ? EISDIR : ENOENT;
    if (slash == path)
        directory = "/";
    else if (slash)
        *slash = '\0';
    *fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *fd < 0 ? errno : 0;
}

/* Make the temporary file, with the old file's mode if there is one. Returns an errno. */
static int create_temporary(mxci_writer *w, char *temporary) {
    static _Atomic uint32_t serial;
    struct stat st;
    int exists = fstatat(w->directory, w->target, &st, 0) == 0;
    if (exists && !S_ISREG(st.st_mode))
        return S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
    if (exists && faccessat(w->directory, w->target, W_OK, AT_EACCESS) != 0)
        return errno;
    for (int tries = 0; w->fd < 0 && tries < 1000; tries++) { /* names left by a process that ended are skipped */
        mxci_format(temporary, strlen(w->target) + SUFFIX, "%s.tmp-%ld-%u", w->target, (long)getpid(),
                    (unsigned)atomic_fetch_add(&serial, 1));
        w->fd = openat(w->directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (w->fd < 0 && errno != EEXIST && errno != EINTR)
            return errno;
    }
    if (w->fd < 0)
        return EEXIST;
    w->temporary = temporary;
    return exists && fchmod(w->fd, st.st_mode & 0777) != 0 ? errno : 0;
}

/* Close and free; the temporary, if still there, is removed. */
static void dispose(mxci_writer *w) {
    if (w->fd >= 0)
        close(w->fd);
    if (w->temporary)
        unlinkat(w->directory, w->temporary, 0);
    close(w->directory);
    mxci_free(w->path);
    mxci_free(w);
}

/* NULL without memory. names has room for the target and for the temporary, which is the target with a suffix. */
static mxci_writer *writer_new(const char *path, const char *target, int directory) {
    size_t n = strlen(target) + 1;
    mxci_writer *w = mxci_alloc(sizeof *w + 2 * n + SUFFIX);
    if (!w)
        return NULL;
    w->fd = -1;
    w->directory = directory;
    w->error = 0;
    w->written = 0;
    w->buffered = 0;
    w->target = memcpy(w->names, target, n);
    w->temporary = NULL;
    w->path = mxci_strdup(path);
    if (w->path)
        return w;
    mxci_free(w);
    return NULL;
}

mxc_status mxci_writer_open(const char *path, mxci_writer **out) {
    char resolved[PATH_MAX], *name;
    int directory = -1, error;
    mxci_writer *w;
    *out = NULL;
    error = follow_links(path, resolved);
    if (!error)
        error = open_directory(resolved, &name, &directory);
    if (error)
        return write_failed(path, "write", error);
    w = writer_new(path, name, directory);
    if (!w) {
        close(directory);
        return write_failed(path, "write", ENOMEM);
    }
    error = create_temporary(w, w->names + strlen(name) + 1);
    if (error) {
        dispose(w);
        return error == EINVAL ? MXC_FAIL(MXC_EIO, "%s: cannot write: exists and is not a regular file", shown(path))
                               : write_failed(path, "write", error);
    }
    *out = w;
    return MXC_OK;
}

/* write(), but a file that grows beyond the process's limit is EFBIG without SIGXFSZ, whose default action ends the
 * process. The program's handlers and the signal's disposition stay as they are: the signal is blocked on this thread,
 * and consumed if this write raised it. */
static ssize_t write_without_signal(int fd, const void *data, size_t bytes) {
    sigset_t limit, before, pending;
    const struct timespec at_once = {0, 0};
    ssize_t n;
    int error, was_pending;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    sigpending(&pending);
    was_pending = sigismember(&pending, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &limit, &before);
    n = write(fd, data, bytes);
    error = errno;
    if (n < 0 && error == EFBIG && !was_pending)
        while (sigtimedwait(&limit, NULL, &at_once) < 0 && errno == EINTR)
            continue;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return n;
}

/* Hand bytes to the system; after a failure nothing more is written. */
static mxc_status write_out(mxci_writer *w, const char *data, size_t bytes) {
    while (!w->error && bytes > 0) {
        ssize_t n = write_refused() ? -1 : write_without_signal(w->fd, data, bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            w->error = errno;
            break;
        }
        data += n;
        bytes -= (size_t)n;
        w->written += n;
    }
    return w->error ? write_failed(w->path, "write", w->error) : MXC_OK;
}

static mxc_status flush(mxci_writer *w) {
    size_t bytes = w->buffered;
    w->buffered = 0;
    return write_out(w, w->buffer, bytes);
}

mxc_status mxci_writer_write(mxci_writer *w, const void *data, size_t bytes) {
    if (w->error)
        return write_failed(w->path, "write", w->error);
    if (bytes > WRITE_BUFFER - w->buffered)
        MXC_TRY(flush(w));
    if (bytes >= WRITE_BUFFER)
        return write_out(w, data, bytes);
    if (bytes)
        memcpy(w->buffer + w->buffered, data, bytes);
    w->buffered += bytes;
    return MXC_OK;
}

mxc_status mxci_writer_printf(mxci_writer *w, const char *format, ...) {
    mxci_text text = {0};
    char line[512];
    mxc_status status;
    va_list args;
    int n;
    va_start(args, format);
    n = mxci_vformat(line, sizeof line, format, args);
    va_end(args);
    if (n >= 0 && n < (int)sizeof line)
        return mxci_writer_write(w, line, (size_t)n);
    va_start(args, format);
    mxci_text_vprintf(&text, format, args);
    va_end(args);
    if (text.failed) {
        w->error = w->error ? w->error : ENOMEM;
        status = write_failed(w->path, "write", w->error);
    } else {
        status = mxci_writer_write(w, text.data, text.length);
    }
    mxci_text_free(&text);
    return status;
}

int64_t mxci_writer_tell(const mxci_writer *w) {
    return w->written + (int64_t)w->buffered;
}

/* Rename the temporary to the target. Returns an errno. */
static int replace_target(mxci_writer *w) {
    int closed;
    if (write_refused() || fsync(w->fd) != 0)
        return errno;
    closed = close(w->fd);
    w->fd = -1;
    if (closed != 0)
        return errno;
    if (write_refused() || renameat(w->directory, w->temporary, w->directory, w->target) != 0)
        return errno;
    w->temporary = NULL;
    /* file systems that cannot flush a directory return EINVAL */
    return fsync(w->directory) != 0 && errno != EINVAL ? errno : 0;
}

mxc_status mxci_writer_commit(mxci_writer *w) {
    mxc_status status = w->error ? write_failed(w->path, "write", w->error) : flush(w);
    if (status == MXC_OK) {
        int error = replace_target(w);
        if (error)
            status = write_failed(w->path, w->temporary ? "replace" : "flush its directory", error);
    }
    dispose(w);
    return status;
}

void mxci_writer_abandon(mxci_writer *w) {
    if (w)
        dispose(w);
}

mxc_status mxci_file_remove(const char *path) {
    if (!write_refused() && unlink(path) == 0)
        return MXC_OK;
    return errno == ENOENT ? MXC_FAIL(MXC_ENOTFOUND, "%s: no such file", shown(path))
                           : write_failed(path, "remove", errno);
}

void mxci_stderr_write(const char *text, size_t bytes) {
    while (bytes > 0) {
        ssize_t n = write(STDERR_FILENO, text, bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        text += n;
        bytes -= (size_t)n;
    }
}

int mxci_stderr_columns(void) {
    struct winsize size;
    if (isatty(STDERR_FILENO) != 1)
        return 0;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}
