/* The parameter of Dropout. */
#ifndef MXCI_OPERATOR_DROPOUT_H
#define MXCI_OPERATOR_DROPOUT_H


typedef struct mxci_dropout_params {
    double p;
} mxci_dropout_params;

#endif
