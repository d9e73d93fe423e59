/* The library's version. The build reads it from here; there is no second place. */
#ifndef MXC_VERSION_H
#define MXC_VERSION_H

#include <mxc/export.h>

/** Version of these headers. The number grows with the version: 10000 * major + 100 * minor + patch. */
#define MXC_VERSION "0.1.0"
#define MXC_VERSION_NUMBER 100

/** Version of the library that is running, as "0.1.0"; may differ from MXC_VERSION. Never NULL. Thread-safe. */
MXC_API const char *mxc_version(void);

#endif
