/* SPDX-License-Identifier: Apache-2.0 */
/* Symbol visibility, C linkage and attributes for the public headers. */
#ifndef MXC_EXPORT_H
#define MXC_EXPORT_H

#ifdef __cplusplus
#define MXC_EXTERN extern "C"
#else
#define MXC_EXTERN extern
#endif

#if defined(__GNUC__)
#define MXC_API MXC_EXTERN __attribute__((visibility("default")))
#define MXC_PRINTF(fmt_at, args_at) __attribute__((format(printf, fmt_at, args_at)))
#define MXC_MUST_CHECK __attribute__((warn_unused_result)) /* the compiler warns where the result is not used */
#else
#define MXC_API MXC_EXTERN
#define MXC_PRINTF(fmt_at, args_at)
#if defined(__cplusplus) && __cplusplus >= 201703L
#define MXC_MUST_CHECK [[nodiscard]]
#else
#define MXC_MUST_CHECK
#endif
#endif

#endif
