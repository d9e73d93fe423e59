/*
 * The GPU module's parts. Sources in this folder are compiled twice: by nvcc for the module libmxc_cuda.so, with
 * nvidia/; and by the C++ compiler for a stand-in that the tests load in its place, with tests/fake_gpu/, which
 * computes on the host. What differs is behind platform.h and the functions below; kernels are the same source.
 */
#ifndef MXCI_CUDA_RUNTIME_MODULE_H
#define MXCI_CUDA_RUNTIME_MODULE_H

#include <mxc/op.h>

#include "base/module.h"
#include "operator/op_impl.h"

/* The platform's tables: memory, copies and streams. */
extern const mxci_device mxcu_gpu, mxcu_pinned;
/* Its table of sums between GPUs (base/clique.h); NULL: none. */
const struct mxci_clique_api *mxcu_clique(void);

/* An option's value (base/options.def). */
int64_t mxcu_option(mxci_option option);

/* While the call's stream is recorded: where each replay puts the random numbers of its run, on the device, and the
 * offset that stands for there. NULL: it is not recorded, or draws none. */
const mxc_random *mxcu_random_place(const mxc_op_call *call, uint64_t *begin);

/* Operators' forms, as lists: form_lists.def names them all. */
typedef struct mxcu_form_list {
    const mxci_op_form *forms;
    int n;
} mxcu_form_list;

#define FORMS(name) extern const mxcu_form_list mxcu_forms_##name;
#include "cuda/runtime/form_lists.def"
#undef FORMS

/* Defines a list: MXCU_FORMS(softmax, {"softmax", forward, backward}, ...). */
#define MXCU_FORMS(name, ...)                                 \
    static const mxci_op_form name##_forms[] = {__VA_ARGS__}; \
    const mxcu_form_list mxcu_forms_##name = {name##_forms, (int)(sizeof name##_forms / sizeof *name##_forms)};

#endif
