/* SPDX-License-Identifier: Apache-2.0 */
/* Moving elements from planes to planes, as cuda/nvidia/cuda_platform/tiles.h does by tiles: here by all elements,
 * backwards. */
#ifndef MXCU_TILES_H
#define MXCU_TILES_H

#include "cuda/runtime/kernel.h"

template <class T, class Load, class Store>
mxc_status mxcu_tiles(const mxc_op_call *call, int64_t batch, int64_t m, int64_t n, Load load, Store store) {
    return mxcu_fake_launch(call, [=] {
        for (int64_t b = batch; b-- > 0;)
            for (int64_t i = m; i-- > 0;)
                for (int64_t j = n; j-- > 0;) {
                    T value = load(b, i, j);
                    store(b, i, j, value);
                }
    });
}

#endif
