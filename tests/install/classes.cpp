/* SPDX-License-Identifier: Apache-2.0 */
/* A stranger's program in C++17, with the classes of mxc/mxc.hpp. */
#include <cstdio>

#include <mxc/mxc.hpp>

int main() {
    try {
        mxc::ndarray a = mxc::ndarray::from({1.0f, 2.0f});
        std::vector<float> sum = mxc::op::relu(a + 0.5).to_vector<float>();
        std::printf("%g %g\n", double(sum[0]), double(sum[1]));
    } catch (const mxc::error &e) {
        std::printf("%s: %s\n", e.status_name(), e.what());
    }
}
