/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of a .inc file of kernels that is included once per type, under one name: MXCU_OVERLOAD_2(f, of) makes
 * f(float, float) of of_f32 and f(double, double) of of_f64; _3 and _4 do the same for three and four arguments.
 */
#ifndef MXCI_CUDA_RUNTIME_OVERLOAD_H
#define MXCI_CUDA_RUNTIME_OVERLOAD_H

#define MXCU_OVERLOAD(name, of, parameters_f32, parameters_f64, arguments) \
    static MXCU_DEVICE float name parameters_f32 {                         \
        return of##_f32 arguments;                                         \
    }                                                                      \
    static MXCU_DEVICE double name parameters_f64 {                        \
        return of##_f64 arguments;                                         \
    }
#define MXCU_OVERLOAD_2(name, of) MXCU_OVERLOAD(name, of, (float a, float b), (double a, double b), (a, b))
#define MXCU_OVERLOAD_3(name, of) \
    MXCU_OVERLOAD(name, of, (float a, float b, float c), (double a, double b, double c), (a, b, c))
#define MXCU_OVERLOAD_4(name, of)                                                                           \
    MXCU_OVERLOAD(name, of, (float a, float b, float c, float d), (double a, double b, double c, double d), \
                  (a, b, c, d))

#endif
