#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Memory, threads, time, files and the end of the process belong to src/base/sys*.c, reading real numbers, which depends
# on the locale, to src/base/text.c; nothing else in src/ calls them. JSON is read by mxci_json_parse alone: jansson's
# parser crashes where memory is out. The adapter libmxnet.so, which has libmxc's public functions only, has all of that
# in src/compat/sys*.c.
. "$(dirname "$0")/lib.sh"

names='malloc|calloc|realloc|reallocarray|free|strdup|strndup|aligned_alloc|posix_memalign|mmap|munmap|v?asprintf'
names+='|pthread_[a-z_]+|thrd_[a-z]+|mtx_[a-z]+|fork|fopen|fdopen|freopen|tmpfile|open|openat|creat|socket'
names+='|v?f?printf|puts|putchar|fputs|perror|sleep|usleep|nanosleep|clock_gettime|gettimeofday|time|getenv|setenv'
names+='|json_load[a-z_]*|assert|abort|exit|_exit|_Exit|quick_exit|atexit|signal|sigaction|raise|system'
reading='strtod|strtof|strtold|atof|v?f?scanf|sscanf'

check() {
    local file calls
    sources "$1" src | sed -E '/^src\/(base\/sys[a-z_]*\.[ch]|cuda\/.*|kvstore\/mpi\/.*|compat\/sys[a-z_]*\.c)$/d' | while read -r file; do
        calls=$names
        [ "$file" = src/base/text.c ] || calls+="|$reading"
        code "$1/$file" | grep -nE "(^|[^A-Za-z0-9_.>])($calls)[ ]*\(" | sed "s|^\([0-9]*\):|$file:\1: goes through base/sys.h, base/text.h or symbol/json.h: |" || true
    done
}

samples() {
    must_find src/io/a.c <<<'char *p = malloc(3);'
    must_find src/io/a.c <<<'    free (p);'
    must_find src/engine/a.h <<<'static inline void f(void) { pthread_mutex_lock(&m); }'
    must_find src/base/log.c <<<'fprintf(stderr, "%s", s);'
    must_find src/operator/kernels/a.inc <<<'/* fine */ assert(n > 0);'
    must_find src/train/a.c <<<'x = strtod(text, NULL);'
    must_find src/train/a.c <<<'json_t *json = json_loads(text, 0, &error);'
    must_pass src/base/text.c <<<'x = strtod(text, &end);'
    must_pass src/base/sys_memory.c <<<'void *mxci_alloc(size_t n) { return malloc(n); }'
    must_pass src/io/a.c <<<'/* malloc(3) is
not used: free(p) */ // open(x)
pool->free(p); pool.free(p); mxci_free(p); log("exit(1)"); int open = 1; snprintf(b, n, "%d", open);'
}

main "$@"
