/* SPDX-License-Identifier: Apache-2.0 */
/* What every test may use: cmocka, status assertions, scaling under sanitizers, temporary folders. Header only. */
#ifndef MXC_TESTS_SUPPORT_H
#define MXC_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <mxc/status.h>

/* Loop counts: a tenth under a sanitizer. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TEST_SANITIZED 1
#endif
#endif
#ifndef TEST_SANITIZED
#define TEST_SANITIZED 0
#endif
#define TEST_SCALE(n) (TEST_SANITIZED ? ((n) + 9) / 10 : (n))

/* Fail the test, with the library's message, unless a call returned MXC_OK. Main thread only, as all assertions. */
#define assert_ok(call) test_status((call), MXC_OK, NULL, #call, __FILE__, __LINE__)

/* The call must return this code. */
#define assert_status(call, code) test_status((call), (code), NULL, #call, __FILE__, __LINE__)

/* The call must return this code and leave a message that contains text. */
#define assert_fails(call, code, text) test_status((call), (code), (text), #call, __FILE__, __LINE__)

static inline void test_status(mxc_status found, mxc_status expected, const char *text, const char *call,
                               const char *file, int line) {
    if (found != expected) {
        print_error("%s:\n  returned %s (%s: %s), expected %s\n", call, mxc_status_name(found), mxc_last_error_place(),
                    found == MXC_OK ? "no failure" : mxc_last_error(), mxc_status_name(expected));
        _fail(file, line);
    }
    if (text && !strstr(mxc_last_error(), text)) {
        print_error("%s:\n  message \"%s\"\n  lacks   \"%s\"\n", call, mxc_last_error(), text);
        _fail(file, line);
    }
}

/* Make a fresh folder under $TMPDIR or /tmp and return its path, which stays in out. */
typedef char test_path[512];
static inline const char *test_temp_dir(test_path out) {
    const char *base = getenv("TMPDIR");
    snprintf(out, sizeof(test_path), "%s/mxc-test-XXXXXX", base && *base && strlen(base) < 256 ? base : "/tmp");
    if (!mkdtemp(out))
        fail_msg("cannot make a temporary folder %s", out);
    return out;
}

/* folder/name, in out. */
static inline const char *test_join(test_path out, const char *folder, const char *name) {
    if (snprintf(out, sizeof(test_path), "%s/%s", folder, name) >= (int)sizeof(test_path))
        fail_msg("path too long: %s/%s", folder, name);
    return out;
}

/* Remove a folder of test_temp_dir with all that is in it. */
static inline void test_remove_dir(const char *path) {
    DIR *dir = opendir(path);
    struct dirent *entry;
    while (dir && (entry = readdir(dir)) != NULL) {
        test_path inside;
        struct stat st;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        test_join(inside, path, entry->d_name);
        if (lstat(inside, &st) == 0 && S_ISDIR(st.st_mode))
            test_remove_dir(inside);
        else
            unlink(inside);
    }
    if (dir)
        closedir(dir);
    rmdir(path);
}

/* Path of a file of the test data, in out: in $LIBMXC_TEST_DATA, or beside the source tree. 0 if there is none:
 * skip(). */
static inline int test_data(test_path out, const char *name) {
    const char *folder = getenv("LIBMXC_TEST_DATA");
    test_join(out, folder && *folder ? folder : MXC_SOURCE_DIR "/../shared/data", name);
    if (access(out, R_OK) == 0)
        return 1;
    print_message("skipped: no test data (%s); set LIBMXC_TEST_DATA\n", out);
    return 0;
}

/* Write a whole file of the test's own. */
static inline void test_write_file(const char *path, const void *data, size_t bytes) {
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, bytes, file) != bytes || fclose(file) != 0)
        fail_msg("cannot write %s", path);
}

/* A whole file with a NUL behind; free() it. NULL if there is no such file. */
static inline char *test_read_file(const char *path, size_t *bytes) {
    FILE *file = fopen(path, "rb");
    size_t n = 0, room = 1024;
    char *data = file ? (char *)malloc(room) : NULL;
    if (!data)
        return NULL;
    while ((n += fread(data + n, 1, room - n, file)) == room)
        data = (char *)realloc(data, room *= 2);
    fclose(file);
    data[n] = '\0';
    if (bytes)
        *bytes = n;
    return data;
}

#endif
