/* Symbol visibility and C linkage for the public headers. */
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
#else
#define MXC_API MXC_EXTERN
#define MXC_PRINTF(fmt_at, args_at)
#endif

#endif
