/* SPDX-License-Identifier: Apache-2.0 */
/* Classifies an image of 28 x 28 pixels, here a black one, with a saved model. */
#include <stdio.h>

#include <mxc/mxc.h>
int main(void) {
    const mxc_data_desc input = {"data", {4, {1, 1, 28, 28}}, MXC_F32};
    const float pixels[28 * 28] = {0};
    int64_t best = 0;
    mxc_predictor *net = NULL; /* of net-symbol.json, and of the best or the last parameters, such as net-0001.params */
    const int failed = mxc_predictor_load("net", -1, 1, &input, NULL, &net) ||
                       mxc_predictor_set_input(net, "data", pixels, sizeof pixels) || mxc_predictor_forward(net) ||
                       mxc_top_classes(mxc_predictor_output(net, 0), 0, 1, &best, NULL);
    failed ? puts(mxc_last_error()) : printf("class %lld of 10\n", (long long)best);
    mxc_predictor_destroy(net);
    return failed;
}
