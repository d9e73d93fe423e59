/* SPDX-License-Identifier: Apache-2.0 */
/* Version of the library. The build reads it from this header. */
#ifndef MXC_VERSION_H
#define MXC_VERSION_H

#include <mxc/export.h>

/** Version of these headers, as a string and as a number: 10000 * major + 100 * minor + patch. */
#define MXC_VERSION "0.1.0"
#define MXC_VERSION_NUMBER 100

/** Version of the loaded library, such as "0.1.0", which may differ from MXC_VERSION. Never NULL. Thread-safe. */
MXC_API const char *mxc_version(void);

/** Set of instructions that the library's CPU kernels use: "baseline", "avx2" or "avx512" on x86-64, "neon" on aarch64,
 * "baseline" on other processors. It is selected when the library is loaded: the best that the processor has, or the
 * one that the environment variable MXC_CPU names. Never NULL. Thread-safe. */
MXC_API const char *mxc_cpu_level(void);

#endif
