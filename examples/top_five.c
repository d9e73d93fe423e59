/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the five best classes of an image, for models of CIFAR-10: top_five MODEL CLASSES IMAGE */
#include <stdio.h>

#include <mxc/mxc.h>
static const mxc_image_transform cifar = {sizeof cifar, 0, 1, 1 / 255.0, {0.491, 0.482, 0.447}, {0.202, 0.199, 0.201}};
int main(int argc, char **argv) {
    const mxc_data_desc input = {"data", {4, {1, 3, 32, 32}}, MXC_F32};
    mxc_predictor *net = NULL;
    mxc_names names = {0, NULL};
    mxc_image image = {0, 0, 0, NULL};
    int64_t best[5];
    float scores[5];
    if (argc != 4)
        return fprintf(stderr, "top_five: expected MODEL CLASSES IMAGE\n"), 2;
    const int failed = mxc_predictor_load(argv[1], -1, 1, &input, NULL, &net) ||
                       mxc_class_names_load(argv[2], &names) || mxc_image_load(argv[3], 3, 0, &image) ||
                       mxc_image_to_array(&image, &cifar, mxc_predictor_input(net, 0), 0) ||
                       mxc_predictor_forward(net) || mxc_top_classes(mxc_predictor_output(net, 0), 0, 5, best, scores);
    for (int i = 0; i < 5 && !failed; i++)
        printf("%-20s %.4g\n", best[i] < names.n ? names.items[best[i]] : "?", (double)scores[i]);
    failed ? fprintf(stderr, "top_five: %s\n", mxc_last_error()) : 0;
    mxc_image_free(&image);
    mxc_names_release(&names);
    mxc_predictor_destroy(net);
    return failed;
}
