/* SPDX-License-Identifier: Apache-2.0 */
/* Readers against odd files, and the writer: one-step replacement, failures at every write, links, modes, names. */
#include "support.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include "base/sys.h"
#include "base/sys_file.h"

typedef struct fixture {
    test_path dir, path;
    int64_t live;
    int next_fd;
} fixture;

/* The lowest descriptor that is free. */
static int next_descriptor(void) {
    int fd = open("/dev/null", O_RDONLY);
    close(fd);
    return fd;
}

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    test_join(f->path, test_temp_dir(f->dir), "file");
    f->live = mxci_alloc_live();
    f->next_fd = next_descriptor();
    *state = f;
    return 0;
}

/* Nothing may be left over: no memory, no file descriptors. */
static int tear_down(void **state) {
    fixture *f = *state;
    int blocks = (int)(mxci_alloc_live() - f->live), descriptors = next_descriptor() - f->next_fd;
    int leaked = blocks != 0 || descriptors != 0;
    if (leaked)
        print_error("left over: %d blocks, %d descriptors\n", blocks, descriptors);
    test_remove_dir(f->dir);
    free(f);
    return leaked;
}

static int files_in(const char *path) {
    DIR *dir = opendir(path);
    int count = -2; /* "." and ".." */
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

static void assert_content(const char *path, const char *expected) {
    size_t bytes = 0;
    char *found = test_read_file(path, &bytes);
    assert_non_null(found);
    assert_string_equal(found, expected);
    assert_int_equal(bytes, strlen(expected));
    free(found);
}

/* ---- reading ---- */

static void reads_what_is_there(void **state) {
    fixture *f = *state;
    mxci_file *file;
    char data[8] = "";
    test_write_file(f->path, "0123456789", 10);
    assert_ok(mxci_file_open(f->path, &file));
    assert_int_equal(mxci_file_size(file), 10);
    assert_string_equal(mxci_file_path(file), f->path);
    assert_ok(mxci_file_read_at(file, 3, data, 4));
    assert_string_equal(data, "3456");
    assert_ok(mxci_file_read_at(file, 10, data, 0));
    assert_fails(mxci_file_read_at(file, 8, data, 3), MXC_EFORMAT, "truncated: expected 3 bytes at offset 8, found 2");
    assert_non_null(strstr(mxc_last_error(), f->path));
    assert_status(mxci_file_read_at(file, -1, data, 1), MXC_EFORMAT);
    assert_status(mxci_file_read_at(file, INT64_MAX, data, 1), MXC_EFORMAT);
    assert_status(mxci_file_read_at(file, 0, data, SIZE_MAX), MXC_EFORMAT);
    mxci_file_close(file);
    mxci_file_close(NULL);
}

static void reads_whole_files(void **state) {
    fixture *f = *state;
    size_t bytes;
    char *data;
    test_write_file(f->path, "0123456789", 10);
    assert_ok(mxci_file_read_all(f->path, 10, &data, &bytes));
    assert_int_equal(bytes, 10);
    assert_string_equal(data, "0123456789");
    mxci_free(data);
    assert_fails(mxci_file_read_all(f->path, 9, &data, &bytes), MXC_EFORMAT, "10 bytes, at most 9");
    assert_null(data);
    for (int n = 1; n <= 2; n++) {
        mxci_test_fail_alloc(n, 0);
        assert_status(mxci_file_read_all(f->path, 10, &data, &bytes), MXC_ENOMEM);
        mxci_test_fail_alloc(0, 0);
    }
    test_write_file(f->path, "", 0);
    assert_ok(mxci_file_read_all(f->path, 0, &data, &bytes));
    assert_string_equal(data, "");
    mxci_free(data);
}

static void refuses_what_is_no_regular_file(void **state) {
    fixture *f = *state;
    test_path fifo;
    mxci_file *file;
    assert_fails(mxci_file_open(f->path, &file), MXC_ENOTFOUND, f->path);
    assert_null(file);
    assert_status(mxci_file_open("", &file), MXC_ENOTFOUND);
    assert_int_equal(mkfifo(test_join(fifo, f->dir, "fifo"), 0600), 0);
    assert_fails(mxci_file_open(fifo, &file), MXC_EIO, "not a regular file");
    assert_fails(mxci_file_open(f->dir, &file), MXC_EIO, "not a regular file");
    assert_fails(mxci_file_open("/dev/zero", &file), MXC_EIO, "not a regular file");
    test_write_file(f->path, "x", 1);
    assert_status(mxci_file_open(test_join(fifo, f->path, "below"), &file), MXC_ENOTFOUND);
}

static void proc_files_count_as_empty(void **state) {
    mxci_file *file;
    char c;
    (void)state;
    assert_ok(mxci_file_open("/proc/self/status", &file));
    assert_int_equal(mxci_file_size(file), 0);
    assert_ok(mxci_file_read_at(file, 0, &c, 1));
    mxci_file_close(file);
}

static void a_shrinking_file_is_truncated(void **state) {
    fixture *f = *state;
    mxci_file *file;
    char data[10];
    test_write_file(f->path, "0123456789", 10);
    assert_ok(mxci_file_open(f->path, &file));
    assert_int_equal(truncate(f->path, 4), 0);
    assert_fails(mxci_file_read_at(file, 0, data, 10), MXC_EFORMAT, "found 4");
    mxci_file_close(file);
}

static void long_paths_keep_the_reason(void **state) {
    char path[3000];
    mxci_file *file;
    mxci_writer *w;
    (void)state;
    memset(path, 'x', sizeof path);
    path[sizeof path - 1] = '\0';
    assert_fails(mxci_file_open(path, &file), MXC_EIO, "File name too long");
    assert_fails(mxci_writer_open(path, &w), MXC_EIO, "File name too long");
}

/* ---- writing ---- */

/* Write many pieces, enough to flush several times. */
static mxc_status write_number_lines(const char *path, int lines) {
    mxci_writer *w;
    mxc_status status = mxci_writer_open(path, &w);
    if (status != MXC_OK)
        return status;
    for (int i = 0; i < lines && status == MXC_OK; i++)
        status = mxci_writer_printf(w, "%06d\n", i);
    if (status == MXC_OK)
        return mxci_writer_commit(w);
    mxci_writer_abandon(w);
    return status;
}

static void replaces_in_one_step(void **state) {
    fixture *f = *state;
    mxci_writer *w;
    test_write_file(f->path, "old", 3);
    assert_ok(mxci_writer_open(f->path, &w));
    assert_ok(mxci_writer_write(w, "new ", 4));
    assert_ok(mxci_writer_printf(w, "%s %d", "text", 5));
    assert_int_equal(mxci_writer_tell(w), 10);
    assert_content(f->path, "old");
    assert_ok(mxci_writer_commit(w));
    assert_content(f->path, "new text 5");
    assert_int_equal(files_in(f->dir), 1);
}

static void abandoning_leaves_nothing(void **state) {
    fixture *f = *state;
    mxci_writer *w;
    assert_ok(mxci_writer_open(f->path, &w));
    assert_ok(mxci_writer_write(w, "x", 1));
    assert_int_equal(files_in(f->dir), 1);
    mxci_writer_abandon(w);
    mxci_writer_abandon(NULL);
    assert_int_equal(files_in(f->dir), 0);
}

static void large_and_long_pieces_arrive(void **state) {
    fixture *f = *state;
    enum { N = 200000 };
    char *data = malloc(N + 1), *found;
    size_t bytes;
    mxci_writer *w;
    for (int i = 0; i < N; i++)
        data[i] = (char)('a' + i % 23);
    data[N] = '\0';
    assert_ok(mxci_writer_open(f->path, &w));
    assert_ok(mxci_writer_write(w, data, 10));
    assert_ok(mxci_writer_write(w, data + 10, 100000));
    assert_ok(mxci_writer_write(w, data, 0));
    assert_ok(mxci_writer_printf(w, "%s", data + 100010));
    assert_int_equal(mxci_writer_tell(w), N);
    assert_ok(mxci_writer_commit(w));
    found = test_read_file(f->path, &bytes);
    assert_int_equal(bytes, N);
    assert_memory_equal(found, data, N);
    free(found);
    free(data);
}

/* Whichever write, flush or rename fails: the old file stays, no temporary is left, the message names the path. */
static void every_failing_write_leaves_the_old_file(void **state) {
    fixture *f = *state;
    mxc_status status = MXC_EIO;
    int n = 0;
    test_write_file(f->path, "old", 3);
    while (status != MXC_OK) {
        mxci_test_fail_write(++n);
        status = write_number_lines(f->path, 30000);
        mxci_test_fail_write(0);
        assert_int_equal(files_in(f->dir), 1);
        if (status == MXC_OK)
            break;
        assert_int_equal(status, MXC_EIO);
        assert_non_null(strstr(mxc_last_error(), f->path));
        assert_non_null(strstr(mxc_last_error(), "No space left"));
        assert_content(f->path, "old");
    }
    assert_int_equal(n, 4 + 2 + 1); /* 210000 bytes in 4 writes, one flush, one rename: the seventh is none of ours */
}

/* A caller that does not look at the status of a write learns of it at the end. */
static void an_ignored_failure_shows_at_commit(void **state) {
    fixture *f = *state;
    mxci_writer *w;
    char block[70000] = "";
    assert_ok(mxci_writer_open(f->path, &w));
    mxci_test_fail_write(1);
    assert_status(mxci_writer_write(w, block, sizeof block), MXC_EIO);
    mxci_test_fail_write(0);
    assert_status(mxci_writer_write(w, block, sizeof block), MXC_EIO);
    assert_status(mxci_writer_write(w, "x", 1), MXC_EIO);
    assert_fails(mxci_writer_commit(w), MXC_EIO, "No space left");
    assert_int_equal(files_in(f->dir), 0);
}

static void every_failing_allocation_leaves_the_old_file(void **state) {
    fixture *f = *state;
    mxci_writer *w;
    test_write_file(f->path, "old", 3);
    for (int n = 1; n <= 2; n++) {
        mxci_test_fail_alloc(n, 0);
        assert_fails(mxci_writer_open(f->path, &w), MXC_ENOMEM, f->path);
        mxci_test_fail_alloc(0, 0);
        assert_null(w);
    }
    assert_ok(mxci_writer_open(f->path, &w));
    mxci_test_fail_alloc(1, 0);
    assert_status(mxci_writer_printf(w, "%1000d", 1), MXC_ENOMEM);
    mxci_test_fail_alloc(0, 0);
    assert_status(mxci_writer_commit(w), MXC_ENOMEM);
    assert_content(f->path, "old");
    assert_int_equal(files_in(f->dir), 1);
}

static void links_stay_links(void **state) {
    fixture *f = *state;
    test_path link, second, sub, target;
    struct stat st;
    mkdir(test_join(sub, f->dir, "sub"), 0700);
    test_join(target, sub, "target");
    assert_int_equal(symlink("second", test_join(link, f->dir, "link")), 0);
    assert_int_equal(symlink("sub/target", test_join(second, f->dir, "second")), 0);
    for (int lines = 1; lines <= 2; lines++) { /* first the link dangles, then there is a file */
        assert_ok(write_number_lines(link, lines));
        assert_content(target, lines == 1 ? "000000\n" : "000000\n000001\n");
        assert_int_equal(lstat(link, &st), 0);
        assert_true(S_ISLNK(st.st_mode));
    }
    assert_int_equal(files_in(sub), 1);
    unlink(second);
    assert_int_equal(symlink(target, second), 0); /* an absolute link */
    assert_ok(write_number_lines(link, 0));
    assert_content(target, "");
    unlink(second);
    assert_int_equal(symlink("link", second), 0); /* a circle */
    assert_fails(write_number_lines(link, 0), MXC_EIO, link);
}

static void modes_are_kept(void **state) {
    fixture *f = *state;
    mode_t mask = umask(027);
    struct stat st;
    assert_ok(write_number_lines(f->path, 1));
    assert_int_equal(stat(f->path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    chmod(f->path, 0604);
    assert_ok(write_number_lines(f->path, 2));
    assert_int_equal(stat(f->path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0604);
    umask(mask);
}

static void impossible_targets_are_refused(void **state) {
    fixture *f = *state;
    test_path path;
    assert_fails(write_number_lines(f->dir, 1), MXC_EIO, "Is a directory");
    assert_fails(write_number_lines(test_join(path, f->dir, ""), 1), MXC_EIO, "Is a directory");
    assert_fails(write_number_lines("/dev/null", 1), MXC_EIO, "not a regular file");
    assert_fails(write_number_lines(test_join(path, f->dir, "none/file"), 1), MXC_EIO, "No such file or directory");
    assert_fails(write_number_lines("", 1), MXC_EIO, "No such file or directory");
    if (geteuid() != 0) { /* root may write everywhere */
        test_write_file(f->path, "old", 3);
        chmod(f->path, 0444);
        assert_fails(write_number_lines(f->path, 1), MXC_EIO, "Permission denied");
    }
}

static void files_are_removed(void **state) {
    fixture *f = *state;
    test_write_file(f->path, "old", 3);
    mxci_test_fail_write(1);
    assert_fails(mxci_file_remove(f->path), MXC_EIO, "cannot remove");
    mxci_test_fail_write(0);
    assert_content(f->path, "old");
    assert_ok(mxci_file_remove(f->path));
    assert_int_equal(files_in(f->dir), 0);
    assert_fails(mxci_file_remove(f->path), MXC_ENOTFOUND, "no such file");
    assert_fails(mxci_file_remove(f->dir), MXC_EIO, "cannot remove");
}

/* The directory is held from open on, so a change of working directory in between does no harm. */
static void relative_paths_hold_their_folder(void **state) {
    fixture *f = *state;
    char *before = realpath(".", NULL);
    mxci_writer *w;
    assert_int_equal(chdir(f->dir), 0);
    assert_ok(mxci_writer_open("file", &w));
    assert_int_equal(chdir("/"), 0);
    assert_ok(mxci_writer_commit(w));
    assert_content(f->path, "");
    assert_int_equal(chdir(before), 0);
    free(before);
}

static void two_writers_do_not_meet(void **state) {
    fixture *f = *state;
    mxci_writer *first, *second;
    assert_ok(mxci_writer_open(f->path, &first));
    assert_ok(mxci_writer_open(f->path, &second));
    assert_ok(mxci_writer_write(first, "first", 5));
    assert_ok(mxci_writer_write(second, "second", 6));
    assert_ok(mxci_writer_commit(second));
    assert_ok(mxci_writer_commit(first));
    assert_content(f->path, "first");
    assert_int_equal(files_in(f->dir), 1);
}

/* More than the process may write is a failure, and no signal that ends it. */
static void the_limit_of_files_is_a_failure(void **state) {
    fixture *f = *state;
    struct rlimit before, limit;
    sigset_t mask, pending;
    mxc_status status;
    int blocked;
    char text[MXC_ERROR_MAX];
    test_write_file(f->path, "old", 3);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 100000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    status = write_number_lines(f->path, 40000);
    snprintf(text, sizeof text, "%s", mxc_last_error());
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, MXC_EIO);
    assert_non_null(strstr(text, "File too large"));
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    blocked = sigismember(&mask, SIGXFSZ);
    assert_int_equal(blocked, 0);
    sigpending(&pending);
    assert_int_equal(sigismember(&pending, SIGXFSZ), 0);
    assert_content(f->path, "old");
    assert_int_equal(files_in(f->dir), 1);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(reads_what_is_there),
        CASE(reads_whole_files),
        CASE(refuses_what_is_no_regular_file),
        CASE(proc_files_count_as_empty),
        CASE(a_shrinking_file_is_truncated),
        CASE(long_paths_keep_the_reason),
        CASE(replaces_in_one_step),
        CASE(abandoning_leaves_nothing),
        CASE(large_and_long_pieces_arrive),
        CASE(every_failing_write_leaves_the_old_file),
        CASE(an_ignored_failure_shows_at_commit),
        CASE(every_failing_allocation_leaves_the_old_file),
        CASE(links_stay_links),
        CASE(modes_are_kept),
        CASE(files_are_removed),
        CASE(impossible_targets_are_refused),
        CASE(relative_paths_hold_their_folder),
        CASE(two_writers_do_not_meet),
        CASE(the_limit_of_files_is_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
