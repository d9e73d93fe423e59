/* SPDX-License-Identifier: Apache-2.0 */
/* What the processor has, and the choice of the kernels' level. */
#include "base/cpu.h"

#include <limits.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <mxc/version.h>

#include "base/error.h"
#include "base/options.h"
#include "base/text.h"

/* ---- the processor ----------------------------------------------------------------------------------------------- */

static int has_all(void) {
    return 1;
}

#if defined(__x86_64__)
/* All that x86-64-v3 lets the compiler use. The first line also asks whether the system keeps the wide registers. */
static int has_avx2(void) {
    enum { MOVBE = 1 << 22, F16C = 1 << 29, LZCNT = 1 << 5 };
    unsigned a, b, c = 0, d, extended = 0;
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi") ||
        !__builtin_cpu_supports("bmi2"))
        return 0;
    __get_cpuid(1, &a, &b, &c, &d);
    __get_cpuid(0x80000001, &a, &b, &extended, &d);
    return (c & MOVBE) && (c & F16C) && (extended & LZCNT);
}

static int has_avx512(void) {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}

static int has_avx512vnni(void) {
    return has_avx512() && __builtin_cpu_supports("avx512vnni");
}
#endif

static const struct {
    const char *name, *needs;
    int (*runs)(void);
} known[] = {
    {"baseline", "nothing", has_all},
    {"neon", "nothing", has_all},
#if defined(__x86_64__)
    {"avx2", "AVX2, FMA, BMI, F16C, LZCNT and MOVBE", has_avx2},
    {"avx512", "what avx2 needs, and AVX-512 F, BW, CD, DQ and VL", has_avx512},
    {"avx512vnni", "what avx512 needs, and AVX-512 VNNI", has_avx512vnni},
#endif
};

/* The entry of a level of this library. */
static int known_index(const char *name) {
    int i = 0;
    while (strcmp(known[i].name, name) != 0)
        i++;
    return i;
}

static int lacking = INT_MAX; /* for tests: the first index that seems not to run */

void mxci_test_cpu_lacks(const char *level) {
    lacking = 0;
    while (level && strcmp(mxci_level_names[lacking], level) != 0)
        lacking++;
    lacking = level ? lacking : INT_MAX;
}

static int runs(int level) {
    return level < lacking && known[known_index(mxci_level_names[level])].runs();
}

/* ---- the choice -------------------------------------------------------------------------------------------------- */

static int selected;    /* in mxci_level_names */
static int usable;      /* whether kernels may run */
static char wanted[32]; /* MXC_CPU as it was at load, cut */

/* "baseline, avx2": the levels of this library, or those that run here. */
static void list_levels(int running, char *out, size_t room) {
    size_t length = 0;
    out[0] = '\0';
    for (int i = 0; mxci_level_names[i]; i++)
        if (!running || runs(i))
            length += (size_t)mxci_format(out + length, room - length, "%s%s", length ? ", " : "", mxci_level_names[i]);
}

static mxc_status fastest(int *out) {
    const char *first = mxci_level_names[0];
    *out = -1;
    for (int i = 0; mxci_level_names[i]; i++)
        if (runs(i))
            *out = i;
    if (*out >= 0)
        return MXC_OK;
    return MXC_FAIL(MXC_EDEVICE,
                    "this libmxc has no kernels for this processor: those of %s need %s; build it with "
                    "-DMXC_CPU_LEVELS=baseline",
                    first, known[known_index(first)].needs);
}

mxc_status mxci_cpu_use(const char *name) {
    char list[64];
    int level = 0;
    if (!name) {
        MXC_TRY(fastest(&level));
    } else {
        while (mxci_level_names[level] && strcmp(mxci_level_names[level], name) != 0)
            level++;
        if (!mxci_level_names[level]) {
            list_levels(0, list, sizeof list);
            return MXC_FAIL(MXC_EDEVICE, "MXC_CPU=\"%s\": expected a level of this libmxc: %s", name, list);
        }
        if (!runs(level)) {
            list_levels(1, list, sizeof list);
            return MXC_FAIL(MXC_EDEVICE, "MXC_CPU=%s: this processor lacks part of what it needs (%s); it has %s", name,
                            known[known_index(name)].needs, *list ? list : "no level of this libmxc");
        }
    }
    mxci_level_connect(level);
    selected = level;
    usable = 1;
    return MXC_OK;
}

mxc_status mxci_cpu_check(void) {
    return usable ? MXC_OK : mxci_cpu_use(*wanted ? wanted : NULL);
}

/* Without a level that runs, the names are still defined: the first caller of mxci_cpu_check learns what is wrong. */
void mxci_cpu_start(void) {
    const char *text = mxci_option_text(MXCI_TEXT_MXC_CPU);
    if (text)
        mxci_format(wanted, sizeof wanted, "%s", text);
    if (mxci_cpu_use(text ? wanted : NULL) != MXC_OK)
        mxci_level_connect(0);
}

const char *mxc_cpu_level(void) {
    return mxci_level_names[selected];
}
