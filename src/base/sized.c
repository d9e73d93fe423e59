/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sized.h"

#include <stdint.h>
#include <string.h>

void mxci_sized_init(void *to, size_t size, const void *defaults, size_t known) {
    if (!to || size < sizeof size)
        return;
    memset(to, 0, size);
    memcpy(to, defaults, size < known ? size : known);
    memcpy(to, &size, sizeof size);
}

mxc_status mxci_sized_read(const char *caller, const char *name, const char *init, const void *given, void *out,
                           size_t known) {
    size_t size;
    if (!given)
        return MXC_FAIL(MXC_EINVAL, "%s: %s must not be NULL; start from %s", caller, name, init);
    memcpy(&size, given, sizeof size);
    if (size < sizeof size || size > PTRDIFF_MAX / 2)
        return MXC_FAIL(MXC_EINVAL, "%s: %s->size is %zu, expected %zu; start from %s", caller, name, size, known,
                        init);
    for (size_t i = known; i < size; i++)
        if (((const char *)given)[i] != 0)
            return MXC_FAIL(MXC_EINVAL,
                            "%s: %s->size is %zu, and a member behind the %zu bytes that this libmxc knows is set; "
                            "start from %s, or use a newer libmxc",
                            caller, name, size, known, init);
    memcpy(out, given, size < known ? size : known);
    memcpy(out, &known, sizeof known);
    return MXC_OK;
}
