#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# docs/reference/api.json says what the public headers say; every function, callback and struct has the documentation and the
# markers that foreign function interfaces need (docs/internals/api.md). Needs python3-pycparser.
. "$(dirname "$0")/lib.sh"

check() {
    "$here/scripts/api.py" --root "$1" --check 2>&1 || true
}

# finds TEXT [FLAG]...: a header with the declarations on stdin is found fault with; an empty TEXT: it is not
finds() {
    local root found wanted=$1
    root=$(mktemp -d "$scratch/XXXXXX")
    mkdir -p "$root/include/mxc" "$root/docs/reference"
    echo '#include <mxc/a.h>' >"$root/include/mxc/mxc.h"
    {
        printf '/* SPDX-License-Identifier: Apache-2.0 */\n/* A sample. */\n#include <stddef.h>\n#include <stdint.h>\n'
        printf '#define MXC_API extern\ntypedef enum { MXC_OK } mxc_status;\ntypedef struct mxc_a mxc_a;\n'
        printf '/** Drops it. NULL is fine. */\nMXC_API void mxc_a_release(mxc_a *a);\n\n'
        cat
    } >"$root/include/mxc/a.h"
    "$here/scripts/api.py" --root "$root" >/dev/null || true
    [ "${2:-}" != stale ] || echo '{}' >"$root/docs/reference/api.json"
    found=$(check "$root")
    cases=$((cases + 1))
    if [ -n "$wanted" ] && grep -qF "$wanted" <<<"$found"; then return; fi
    if [ -n "$wanted$found" ]; then
        echo "api.sh --self-test: sample $cases: wanted '$wanted', found '$found'"
        failed=1
    fi
}

samples() {
    finds '' <<'END_SAMPLE'
/** Makes one from numbers. @thread any */
typedef void (*mxc_a_fn)(mxc_a *a, void *user);
/** Calls fn for each. Does not block.
 *  @param[null] names  n names
 */
MXC_API mxc_status mxc_a_make(int n, const char *const *names, const int64_t *sizes, mxc_a_fn fn, void *user, mxc_a **out);
END_SAMPLE
    finds 'differs from the headers' stale <<<'/** Nothing. */
MXC_API void mxc_b(void);'
    finds 'mxc_b has no comment' <<<'MXC_API void mxc_b(void);'
    finds 'how long is the array' <<<'/** Sums. */
MXC_API int64_t mxc_sum(const int64_t *numbers);'
    finds 'is n the length of pairs' <<<'/** A pair. */
typedef struct mxc_pair { int a, b; } mxc_pair;
/** Sums. */
MXC_API int mxc_sum(int n, const mxc_pair *pairs);'
    finds 'mxc_list.items: how long is the array' <<<'/** A list. */
typedef struct mxc_list {
    int m;
    char **items;
} mxc_list;
/** Clears it.
 *  @param[in,out] list  the list
 */
MXC_API void mxc_list_clear(mxc_list *list);'
    finds '' <<<'/** A list. */
typedef struct mxc_list {
    int m, k;
    char **items, **more; /* @length m, k */
} mxc_list;
/** Clears it.
 *  @param[in,out] list  the list
 */
MXC_API void mxc_list_clear(mxc_list *list);'
    finds 'there is no member k' <<<'/** A list. */
typedef struct mxc_list {
    int m;
    char **items; /* @length k */
} mxc_list;
/** Clears it.
 *  @param[in,out] list  the list
 */
MXC_API void mxc_list_clear(mxc_list *list);'
    finds 'there is no parameter m' <<<'/** Sums.
 *  @param[n=m] numbers  to be summed
 */
MXC_API int64_t mxc_sum(int n, const int64_t *numbers);'
    finds '@param number: there is no such parameter' <<<'/** Sums.
 *  @param number  to be summed
 */
MXC_API int64_t mxc_sum(int n, const int64_t *numbers);'
    finds 'read, written or both' <<<'/** A pair. */
typedef struct mxc_pair { int a, b; } mxc_pair;
/** Swaps. */
MXC_API void mxc_swap(mxc_pair *pair);'
    finds 'who frees' <<<'/** Allocates. */
MXC_API mxc_status mxc_get(void **out);'
    finds 'speaks of NULL' <<<'/** Prints.
 *  @param name  may be NULL
 */
MXC_API void mxc_print(const char *name);'
    finds 'on which thread' <<<'/** Calls.
 *  @param fn  called
 */
MXC_API void mxc_call(void (*fn)(int x));'
    finds 'has a function mxc_b_options_init' <<<'/** Options. */
typedef struct mxc_b_options { size_t size; int x; } mxc_b_options;'
    finds 'has no form mxc_b_on' <<<'/** A pair. */
typedef struct mxc_context { int a, b; } mxc_context;
/** Takes one. */
MXC_API void mxc_b(mxc_context context);'
    finds 'unknown marker' <<<'/** Takes one.
 *  @param[maybe] a  or not
 */
MXC_API void mxc_b(mxc_a *a);'
}

main "$@"
