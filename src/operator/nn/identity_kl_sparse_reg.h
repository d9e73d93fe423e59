/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of IdentityAttachKLSparseReg, for C and GPU modules. */
#ifndef MXCI_OPERATOR_NN_IDENTITY_KL_SPARSE_REG_H
#define MXCI_OPERATOR_NN_IDENTITY_KL_SPARSE_REG_H

typedef struct mxci_sparse_params {
    double sparseness_target, penalty, momentum;
} mxci_sparse_params;

#endif
