/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Update rules by name: their settings, states, and rates per update. The built-in ones stand in one table, each with
 * the paper or the MXNet 1.9.1 optimizer that it follows; those of the program are registered behind them.
 */
#include "optimizer/optimizer_rules.h"

#include <math.h>
#include <string.h>

#include "base/document.h"
#include "base/error.h"
#include "base/sys.h"
#include "base/text.h"
#include "optimizer/array_updates.h"

typedef mxci_optimizer_settings settings;
typedef mxci_optimizer_rule rule;
typedef mxci_optimizer_param param_state;
typedef mxci_optimizer_rate rate;

/* ---- settings ---------------------------------------------------------------------------------------------------- */

#define SETTING(field, value, text) \
    { .name = #field, .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(settings, field), .initial = value, .doc = text }
#define SHARE(field, value, most, text)                                                                            \
    {                                                                                                              \
        .name = #field, .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(settings, field), .initial = value, .bounded = 1, \
        .minimum = 0, .maximum = most, .doc = text                                                                 \
    }
#define WHOLE(field, value, least, text)                                                                         \
    {                                                                                                            \
        .name = #field, .type = MXC_PARAM_INT, MXC_PARAM_FIELD(settings, field), .initial = value, .bounded = 1, \
        .minimum = least, .maximum = 1e15, .doc = text                                                           \
    }
#define ON(field, text) \
    { .name = #field, .type = MXC_PARAM_BOOL, MXC_PARAM_FIELD(settings, field), .initial = "true", .doc = text }
#define BOUND(field, text)                                                                                           \
    {                                                                                                                \
        .name = #field, .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(settings, field), .initial = "None", .optional = 1, \
        .doc = text                                                                                                  \
    }
#define BELOW_1 0.999999999999 /* largest decay rate where 1 minus the rate is a divisor */
#define LEARNING_RATE(value)                                                                                          \
    {                                                                                                                 \
        MXC_PARAM_FIELD(settings, learning_rate), .name = "learning_rate", .type = MXC_PARAM_FLOAT, .initial = value, \
                                                  .bounded = 1, .minimum = 0, .maximum = 1e30,                        \
                                                  .doc = "Learning rate, the step size."                              \
    }
#define SWITCH(field, text) \
    { .name = #field, .type = MXC_PARAM_BOOL, MXC_PARAM_FIELD(settings, field), .initial = "false", .doc = text }
#define COMMON SETTING(wd, "0", "Weight decay: wd times the weight is added to the gradient."), COMMON_BUT_WD
#define COMMON_BUT_WD                                                                              \
    SETTING(rescale_grad, "1", "Factor on gradients, applied first."),                             \
        SETTING(clip_gradient, "-1", "Clip rescaled gradients to [-value, value]. Below 0: off."), \
        SWITCH(multi_precision, "Update float32 master copies of 16-bit weights.")

/* sgd, and nag: Sutskever et al., "On the importance of initialization and momentum in deep learning" (2013). */
static const mxc_param sgd_schema[] = {
    LEARNING_RATE("0.01"),
    SHARE(momentum, "0", 1, "Momentum: share of the previous step that is repeated."),
    COMMON,
    MXC_PARAM_END,
};

/* Bernstein et al., "signSGD: Compressed Optimisation for Non-Convex Problems" (2018). */
static const mxc_param signum_schema[] = {
    LEARNING_RATE("0.01"),
    SHARE(momentum, "0.9", 1,
          "Decay rate of the running mean of gradients, whose sign is taken. 0: the sign of the gradient."),
    SETTING(wd_lh, "0", "Weight decay applied to the weight directly, outside of the sign."),
    COMMON,
    MXC_PARAM_END,
};

/* Kingma and Ba, "Adam: A Method for Stochastic Optimization" (2015); adamw: Loshchilov and Hutter, "Decoupled Weight
 * Decay Regularization" (2019). */
static const mxc_param adam_schema[] = {
    LEARNING_RATE("0.001"),
    SHARE(beta1, "0.9", BELOW_1, "Decay rate of the running mean of gradients."),
    SHARE(beta2, "0.999", BELOW_1, "Decay rate of the running mean of squared gradients."),
    SETTING(epsilon, "1e-8", "Added to the denominator for numerical stability."),
    COMMON,
    MXC_PARAM_END,
};

/* Tieleman and Hinton, "Lecture 6.5: RMSProp" (2012); centered: Graves, "Generating Sequences With Recurrent Neural
 * Networks" (2013), equations 38 to 45. */
static const mxc_param rmsprop_schema[] = {
    LEARNING_RATE("0.001"),
    SHARE(gamma1, "0.9", 1, "Decay rate of the running means."),
    SHARE(gamma2, "0.9", 1, "Momentum; used only if centered."),
    SETTING(epsilon, "1e-8", "Added under the square root for numerical stability."),
    SWITCH(centered, "Divide by the estimated standard deviation of the gradient instead of the root mean square."),
    SETTING(clip_weights, "-1", "Clip weights to [-value, value]. Below 0: off."),
    COMMON,
    MXC_PARAM_END,
};

/* McMahan et al., "Ad Click Prediction: a View from the Trenches" (2013), algorithm 1. MXNet's spelling of lamda1. */
static const mxc_param ftrl_schema[] = {
    LEARNING_RATE("0.1"),
    SETTING(lamda1, "0.01", "L1 regularisation coefficient; weights whose accumulated gradient is smaller become 0."),
    SETTING(beta, "1", "Added to the denominator of the learning rate, which keeps the first steps small."),
    COMMON,
    MXC_PARAM_END,
};

/* Duchi, Hazan and Singer, "Adaptive Subgradient Methods for Online Learning and Stochastic Optimization" (2011). */
static const mxc_param adagrad_schema[] = {
    LEARNING_RATE("0.01"),
    {MXC_PARAM_FIELD(settings, epsilon), .name = "epsilon", .alias = "eps", .type = MXC_PARAM_FLOAT, .initial = "1e-7",
     .doc = "Added under the square root for numerical stability."},
    COMMON,
    MXC_PARAM_END,
};

/* Zeiler, "ADADELTA: An Adaptive Learning Rate Method" (2012). */
static const mxc_param adadelta_schema[] = {
    LEARNING_RATE("0.01"),
    SHARE(rho, "0.9", 1, "Decay rate of the running means of squared gradients and squared steps."),
    SETTING(epsilon, "1e-5", "Added under the square roots; it determines the size of the first steps."),
    COMMON,
    MXC_PARAM_END,
};

/* Kingma and Ba (2015), section 7.1. */
static const mxc_param adamax_schema[] = {
    LEARNING_RATE("0.002"),
    SHARE(beta1, "0.9", BELOW_1, "Decay rate of the running mean of gradients."),
    SHARE(beta2, "0.999", 1, "Decay rate of the largest absolute gradient."),
    COMMON,
    MXC_PARAM_END,
};

/* Dozat, "Incorporating Nesterov Momentum into Adam" (2016). */
static const mxc_param nadam_schema[] = {
    LEARNING_RATE("0.001"),
    SHARE(beta1, "0.9", BELOW_1, "Decay rate of the running mean of gradients."),
    SHARE(beta2, "0.999", BELOW_1, "Decay rate of the running mean of squared gradients."),
    SETTING(epsilon, "1e-8", "Added to the denominator for numerical stability."),
    SETTING(schedule_decay, "0.004", "Momentum of update t: beta1 (1 - 0.96^(t schedule_decay) / 2)."),
    COMMON,
    MXC_PARAM_END,
};

/* Zheng and Kwok, "Follow the Moving Leader in Deep Learning" (2017). */
static const mxc_param ftml_schema[] = {
    LEARNING_RATE("0.0025"),
    SHARE(beta1, "0.6", BELOW_1, "Decay rate of the running mean of gradients."),
    SHARE(beta2, "0.999", BELOW_1, "Decay rate of the running mean of squared gradients."),
    SETTING(epsilon, "1e-8", "Added to the square root for numerical stability."),
    COMMON,
    MXC_PARAM_END,
};

/* You et al., "Large Batch Optimization for Deep Learning: Training BERT in 76 minutes" (2020). */
static const mxc_param lamb_schema[] = {
    LEARNING_RATE("0.001"),
    SHARE(beta1, "0.9", BELOW_1, "Decay rate of the running mean of gradients."),
    SHARE(beta2, "0.999", BELOW_1, "Decay rate of the running mean of squared gradients."),
    SETTING(epsilon, "1e-6", "Added to the denominator for numerical stability."),
    BOUND(lower_bound, "Lower bound of the norm of the weight in the trust ratio. None: no bound."),
    BOUND(upper_bound, "Upper bound of the norm of the weight in the trust ratio. None: no bound."),
    ON(bias_correction, "Correct the running means for their initialisation with 0."),
    COMMON,
    MXC_PARAM_END,
};

/* You, Gitman and Ginsburg, "Large Batch Training of Convolutional Networks" (2017); momentum correction: Goyal et al.,
 * "Accurate, Large Minibatch SGD" (2017), section 2.1. */
static const mxc_param lars_schema[] = {
    LEARNING_RATE("0.1"),
    SHARE(momentum, "0", 1, "Momentum: share of the previous step that is repeated."),
    SETTING(eta, "0.001", "Trust coefficient: factor of the ratio of norms."),
    {MXC_PARAM_FIELD(settings, epsilon), .name = "epsilon", .alias = "eps", .type = MXC_PARAM_FLOAT, .initial = "0",
     .doc = "Added to the denominator of the trust ratio."},
    ON(momentum_correction, "Scale the momentum by changes of the learning rate."),
    COMMON,
    MXC_PARAM_END,
};

/* MXNet's SGD for large batches, with a trust ratio after You et al. (2017) as one of its warm-up strategies. */
static const mxc_param lbsgd_schema[] = {
    LEARNING_RATE("0.01"),
    SHARE(momentum, "0", 1, "Momentum: share of the previous step that is repeated."),
    {MXC_PARAM_FIELD(settings, warmup_strategy), .name = "warmup_strategy", .type = MXC_PARAM_ENUM,
     .choices = "linear,power2,sqrt,lars", .initial = "linear",
     .doc = "How the learning rate rises to batch_scale times its value; lars: no warm-up, the learning rate is "
            "multiplied by |w| / sqrt(|g|^2 + wd |w|^2), between 0.01 and 100."},
    WHOLE(warmup_epochs, "5", 0, "Number of epochs of warm-up."),
    WHOLE(batch_scale, "1", 1, "Number of gradients that are averaged for one step."),
    WHOLE(updates_per_epoch, "32", 1, "Number of gradients per epoch, for the warm-up."),
    WHOLE(begin_epoch, "0", 0, "Number of epochs before the first update."),
    WHOLE(num_epochs, "60", 0, "Number of epochs. Not used; accepted as by MXNet."),
    COMMON,
    MXC_PARAM_END,
};
enum { WARMUP_LINEAR, WARMUP_POWER2, WARMUP_SQRT, WARMUP_LARS };

/* Zheng et al., "Asynchronous Stochastic Gradient Descent with Delay Compensation" (2017). */
static const mxc_param dcasgd_schema[] = {
    LEARNING_RATE("0.01"),
    SHARE(momentum, "0", 1, "Momentum: share of the previous step that is repeated."),
    SETTING(lamda, "0.04", "Factor of the compensation for delayed gradients."),
    COMMON,
    MXC_PARAM_END,
};

/* Welling and Teh, "Bayesian Learning via Stochastic Gradient Langevin Dynamics" (2011). */
static const mxc_param sgld_schema[] = {
    LEARNING_RATE("0.01"),
    COMMON,
    MXC_PARAM_END,
};

/* MXNet's AdaGrad with one learning rate for every row of a matrix. */
static const mxc_param groupadagrad_schema[] = {
    LEARNING_RATE("0.01"),
    {MXC_PARAM_FIELD(settings, epsilon), .name = "epsilon", .alias = "eps", .type = MXC_PARAM_FLOAT, .initial = "1e-5",
     .doc = "Added under the square root for numerical stability."},
    COMMON_BUT_WD,
    MXC_PARAM_END,
};

/* Chen et al., "Symbolic Discovery of Optimization Algorithms" (2023), algorithm 2. */
static const mxc_param lion_schema[] = {
    LEARNING_RATE("0.0001"),
    SHARE(beta1, "0.9", 1, "Share of the running mean of gradients in the direction."),
    SHARE(beta2, "0.99", 1, "Decay rate of the running mean of gradients."),
    COMMON,
    MXC_PARAM_END,
};

/* Shazeer and Stern, "Adafactor: Adaptive Learning Rates with Sublinear Memory Cost" (2018), algorithms 4 and 5. */
static const mxc_param adafactor_schema[] = {
    LEARNING_RATE("0.01"),
    SETTING(epsilon, "1e-30", "Added to squared gradients for numerical stability."),
    SETTING(epsilon2, "1e-3", "Smallest root mean square of the weight that scales the step."),
    SETTING(clip_threshold, "1", "Largest root mean square of the step before scaling."),
    SETTING(decay_rate, "-0.8", "The decay rate of the means of squared gradients in update t is 1 - t^decay_rate."),
    ON(scale_parameter, "Scale the step by the root mean square of the weight."),
    ON(relative_step, "Limit the learning rate of update t to 1 / sqrt(t)."),
    COMMON,
    MXC_PARAM_END,
};

/* Jordan et al., "Muon: An optimizer for hidden layers in neural networks" (2024); the factor of the step and the
 * weight decay: Liu et al., "Muon is Scalable for LLM Training" (2025), equation 4. */
static const mxc_param muon_schema[] = {
    LEARNING_RATE("0.001"),
    SHARE(momentum, "0.95", 1, "Momentum of matrices: share of the previous mean that is kept."),
    ON(nesterov, "Use Nesterov momentum for matrices."),
    WHOLE(ns_steps, "5", 1, "Number of Newton-Schulz iterations."),
    SHARE(beta1, "0.9", BELOW_1, "Of other weights (adamw): decay rate of the running mean of gradients."),
    SHARE(beta2, "0.999", BELOW_1, "Of other weights (adamw): decay rate of the running mean of squared gradients."),
    SETTING(epsilon, "1e-8", "Of other weights (adamw): added to the denominator for numerical stability."),
    COMMON,
    MXC_PARAM_END,
};

/* Settings that every optimizer of the program has besides its own. */
static const mxc_param common_schema[] = {
    LEARNING_RATE("0.01"),
    COMMON,
    MXC_PARAM_END,
};

/* mxci_optimizer_rule.is_full: the settings need the states of the full variant. */
static int has_momentum(const settings *set) {
    return set->momentum != 0;
}

static int is_centered(const settings *set) {
    return set->centered;
}

/* mxci_optimizer_rule.has_trust_ratio */
static int always(const settings *set) {
    (void)set;
    return 1;
}

static int is_lars_strategy(const settings *set) {
    return set->warmup_strategy == WARMUP_LARS;
}

/* ---- rates of update t, counted from 1: out has the learning rate and weight decay of the parameter -------------- */

/* Running means that start at 0 are too small by a factor of 1 - beta^t after t updates; one factor on the learning
 * rate corrects both means of Adam, as in MXNet. */
static double adam_factor(const settings *set, double t) {
    return sqrt(1 - pow(set->beta2, t)) / (1 - pow(set->beta1, t));
}

/* The correction is a factor on the learning rate, and so on the decay in it. */
static void adam_rates(const settings *set, const param_state *s, double t, rate *out) {
    (void)s;
    out->lr *= adam_factor(set, t);
}

/* "lr" of the operator is the correction, "eta" the learning rate, so the decay is not corrected. */
static void adamw_rates(const settings *set, const param_state *s, double t, rate *out) {
    (void)s;
    out->eta = out->lr;
    out->lr = adam_factor(set, t);
}

static void adamax_rates(const settings *set, const param_state *s, double t, rate *out) {
    (void)s;
    out->lr /= 1 - pow(set->beta1, t);
}

/* The momentum of update t (Dozat's mu_t). */
static double nadam_momentum(const settings *set, double t) {
    return set->beta1 * (1 - 0.5 * pow(0.96, t * set->schedule_decay));
}

/* The product of the momenta up to t corrects the gradient, the one up to t + 1 the running mean. Once it no longer
 * changes 1 - product, later factors need not be computed. */
static void nadam_rates(const settings *set, const param_state *s, double t, rate *out) {
    const double now = nadam_momentum(set, t), next = nadam_momentum(set, t + 1), lr = out->lr;
    double product = 1;
    (void)s;
    for (double i = 1; i <= t && product > 1e-18; i++)
        product *= nadam_momentum(set, i);
    out->lr = lr * (1 - now) / (1 - product);
    out->eta = lr * next / (1 - product * next);
    out->scale = 1 / (1 - pow(set->beta2, t));
}

/* With momentum correction the learning rate is applied outside of the momentum: v = momentum v + g, w -= lr v is
 * m = momentum (lr / previous lr) m - lr g, w += m. Biases and the parameters of norms have no trust ratio. */
static void lars_rates(const settings *set, const param_state *s, double t, rate *out) {
    (void)t;
    out->eta = set->momentum_correction ? 1 : out->lr;
    out->lr = set->momentum_correction ? out->lr : 1;
    out->scale = s->is_bias_or_norm ? 0 : set->eta;
}

/* The learning rate goes into eta; lr 0 stands for a gradient that is only added to the sum. */
static void lbsgd_rates(const settings *set, const param_state *s, double t, rate *out) {
    const double epochs = (double)set->warmup_epochs, per_epoch = (double)set->updates_per_epoch;
    const double batches = (double)set->batch_scale, done = t + (double)set->begin_epoch * per_epoch;
    const double share = done / (epochs * per_epoch); /* of the warm-up; infinite without one */
    double rise = batches - 1;
    (void)s;
    if (share < 1)
        rise *= done <= 1                               ? 0
                : set->warmup_strategy == WARMUP_LINEAR ? share
                : set->warmup_strategy == WARMUP_POWER2 ? share * share
                                                        : sqrt(share);
    out->eta = out->lr * (set->warmup_strategy == WARMUP_LARS ? 1 : 1 + rise);
    out->lr = fmod(done, batches) == 0;
    out->scale = 1 / batches;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static const rule built_in[] = {
    {
        .name = "sgd",
        .doc = "Stochastic gradient descent: w -= lr g. With momentum: m = momentum m - lr g; w += m.",
        .schema = sgd_schema,
        .plain = {"sgd", NULL},
        .full = {"sgd_mom", "momentum"},
        .is_full = has_momentum,
    },
    {
        .name = "nag",
        .doc = "Stochastic gradient descent with Nesterov momentum.",
        .schema = sgd_schema,
        .plain = {"sgd", NULL},
        .full = {"nag_mom", "momentum"},
        .is_full = has_momentum,
    },
    {
        .name = "signum",
        .doc = "Signum: m = momentum m + (1 - momentum) g; w -= lr sign(m).",
        .schema = signum_schema,
        .plain = {"signsgd", NULL},
        .full = {"signum", "momentum"},
        .is_full = has_momentum,
    },
    {
        .name = "adam",
        .doc = "Adam: m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2; w -= lr m / (sqrt(v) + epsilon), "
               "with lr multiplied by sqrt(1 - beta2^t) / (1 - beta1^t) in update t.",
        .schema = adam_schema,
        .plain = {"adam", "mean,var"},
        .counts = 1,
        .rates = adam_rates,
    },
    {
        .name = "adamw",
        .doc = "Adam with decoupled weight decay: lr wd w is subtracted from the weight; g does not contain it.",
        .schema = adam_schema,
        .plain = {"adamw", "mean,var"},
        .counts = 1,
        .rates = adamw_rates,
    },
    {
        .name = "rmsprop",
        .doc = "RMSProp: n = gamma1 n + (1 - gamma1) g^2; w -= lr g / sqrt(n + epsilon). Centered: the variant of "
               "Graves (2013), with momentum gamma2.",
        .schema = rmsprop_schema,
        .plain = {"rmsprop", "n"},
        .full = {"rmspropalex", "n,g,delta"},
        .is_full = is_centered,
    },
    {
        .name = "ftrl",
        .doc = "FTRL-Proximal (McMahan et al., 2013), for sparse weights.",
        .schema = ftrl_schema,
        .plain = {"ftrl", "z,n"},
    },
    {
        .name = "adagrad",
        .doc = "AdaGrad: h = h + g^2; w -= lr (g / sqrt(h + epsilon) + wd w); g does not contain the weight decay.",
        .schema = adagrad_schema,
        .plain = {"adagrad", "history"},
    },
    {
        .name = "adadelta",
        .doc =
            "AdaDelta: a = rho a + (1 - rho) g^2; d = sqrt(b + epsilon) / sqrt(a + epsilon) g; "
            "b = rho b + (1 - rho) d^2; w -= d + wd w; g does not contain the weight decay. The learning rate has no "
            "effect.",
        .schema = adadelta_schema,
        .plain = {"adadelta", "grad_sq,step_sq"},
    },
    {
        .name = "adamax",
        .doc = "AdaMax: m = beta1 m + (1 - beta1) g; u = max(beta2 u, |g|); w -= lr / (1 - beta1^t) m / u in update t; "
               "0 / 0 is 0.",
        .schema = adamax_schema,
        .plain = {"adamax", "mean,norm"},
        .counts = 1,
        .rates = adamax_rates,
    },
    {
        .name = "nadam",
        .doc = "Adam with Nesterov momentum (Dozat, 2016).",
        .schema = nadam_schema,
        .plain = {"nadam", "mean,var"},
        .counts = 1,
        .rates = nadam_rates,
    },
    {
        .name = "ftml",
        .doc = "Follow the moving leader (Zheng and Kwok, 2017): v = beta2 v + (1 - beta2) g^2; "
               "d' = (1 - beta1^t) / lr (sqrt(v / (1 - beta2^t)) + epsilon); "
               "z = beta1 z + (1 - beta1) g - (d' - beta1 d) w; w = -z / d'; d = d'.",
        .schema = ftml_schema,
        .plain = {NULL, "d,v,z"},
        .counts = 1,
        .update = mxci_array_update_ftml,
    },
    {
        .name = "lamb",
        .doc = "LAMB: m and v as in adam; u = m / (sqrt(v) + epsilon) + wd w; w -= lr |w| / |u| u.",
        .schema = lamb_schema,
        .plain = {NULL, "mean,var"},
        .counts = 1,
        .needs_whole_weights = 1,
        .update = mxci_array_update_lamb,
    },
    {
        .name = "lars",
        .doc =
            "LARS: sgd whose learning rate is multiplied by eta |w| / (|g| + wd |w| + epsilon) for each weight, except "
            "biases and the parameters of norms (names that end in bias, gamma or beta).",
        .schema = lars_schema,
        .plain = {"lars", "momentum"},
        .rates = lars_rates,
        .has_trust_ratio = always,
        .needs_whole_weights = 1,
    },
    {
        .name = "lbsgd",
        .doc = "Large-batch sgd: the mean of batch_scale gradients is one step of sgd, whose learning rate rises to "
               "batch_scale times its value, or with the strategy lars follows the norms of weight and gradient.",
        .schema = lbsgd_schema,
        .plain = {"lbsgd", "momentum,sum"},
        .counts = 1,
        .rates = lbsgd_rates,
        .has_trust_ratio = is_lars_strategy,
        .needs_whole_weights = 1,
    },
    {
        .name = "dcasgd",
        .doc = "Delay-compensated sgd: m = momentum m - lr (g + lamda g^2 (w - previous w) + wd w); w += m.",
        .schema = dcasgd_schema,
        .plain = {"dcasgd", "momentum,previous"},
        .copies = 1 << 1,
    },
    {
        .name = "sgld",
        .doc = "Stochastic gradient Langevin dynamics: w -= lr / 2 g + noise, which is normal with variance lr.",
        .schema = sgld_schema,
        .update = mxci_array_update_sgld,
    },
    {
        .name = "groupadagrad",
        .doc = "AdaGrad with one learning rate for each row of a matrix: h = h + mean of g^2 over the row; "
               "w -= lr g / sqrt(h + epsilon). Without weight decay; weights have 2 axes.",
        .schema = groupadagrad_schema,
        .plain = {NULL, "history"},
        .needs_whole_weights = 1,
        .init_state = mxci_array_init_groupadagrad,
        .update = mxci_array_update_groupadagrad,
    },
    {
        .name = "lion",
        .doc =
            "Lion: w -= lr (sign(beta1 m + (1 - beta1) g) + wd w); m = beta2 m + (1 - beta2) g; g does not contain the "
            "weight decay.",
        .schema = lion_schema,
        .plain = {"lion", "mean"},
    },
    {
        .name = "adafactor",
        .doc =
            "Adafactor without momentum: running means of squared gradients of the rows and columns of a weight, seen "
            "as a matrix of its first axis and the others; of each element for vectors. Decoupled weight decay.",
        .schema = adafactor_schema,
        .plain = {NULL, "row,column,var"},
        .counts = 1,
        .needs_whole_weights = 1,
        .init_state = mxci_array_init_adafactor,
        .update = mxci_array_update_adafactor,
    },
    {
        .name = "muon",
        .doc = "Muon for weights of 2 axes: momentum, orthogonalised by Newton-Schulz iterations, times "
               "0.2 sqrt(largest axis); adamw for the others. Decoupled weight decay.",
        .schema = muon_schema,
        .plain = {"adamw", "mean,var"},
        .counts = 1,
        .needs_whole_weights = 1,
        .rates = adamw_rates,
        .is_for_arrays = mxci_array_is_matrix,
        .init_state = mxci_array_init_muon,
        .update = mxci_array_update_muon,
    },
};
enum { BUILT_IN = sizeof built_in / sizeof built_in[0] };

/* ---- optimizers of the program ----------------------------------------------------------------------------------- */

/* A registered optimizer; entries stay for the process's life. */
typedef struct registered_rule {
    rule rule;
    struct registered_rule *next;
} registered_rule;

static struct {
    mxci_global_mutex lock; /* over the list */
    registered_rule *first;
} registry = {.lock = MXCI_GLOBAL_MUTEX_INIT};

const rule *mxci_optimizer_rule_at(int index) {
    if (index < BUILT_IN)
        return index >= 0 ? &built_in[index] : NULL;
    mxci_global_lock(&registry.lock);
    const registered_rule *at = registry.first;
    for (int i = BUILT_IN; at && i < index; i++)
        at = at->next;
    mxci_global_unlock(&registry.lock);
    return at ? &at->rule : NULL;
}

mxc_status mxci_optimizer_find_rule(const char *name, const rule **out) {
    char text[512];
    mxci_line line = {text, sizeof text, 0};
    const rule *r;
    for (int i = 0; (r = mxci_optimizer_rule_at(i)) != NULL; i++) {
        if (strcmp(r->name, name) == 0) {
            *out = r;
            return MXC_OK;
        }
        mxci_line_printf(&line, "%s%s", i ? ", " : "", r->name);
    }
    return MXC_FAIL(MXC_ENOTFOUND, "optimizer \"%.80s\" does not exist; there are %s", name, text);
}

_Static_assert(MXC_OPTIMIZER_STATES <= MXCI_UPDATE_STATES, "a parameter has room for the states");

/* States are saved as "<key>:<state>" beside the count of updates and the f32 copy of the weight. */
static mxc_status check_state_names(const mxc_optimizer_def *def) {
    for (int i = 0; i < mxci_list_count(def->states); i++) {
        char name[MXCI_STATE_NAME + 1];
        mxci_list_item(def->states, i, name, sizeof name);
        if (!*name || strlen(name) >= MXCI_STATE_NAME || strchr(name, ':') || !strcmp(name, MXCI_UPDATES_NAME) ||
            !strcmp(name, MXCI_MASTER_NAME) || mxci_list_find(def->states, name) != i)
            return MXC_FAIL(
                MXC_EINVAL,
                "mxc_optimizer_register: state %d of %s is \"%s\", expected different names of 1 to %d bytes "
                "without colons, other than " MXCI_UPDATES_NAME " and " MXCI_MASTER_NAME,
                i, def->name, name, MXCI_STATE_NAME - 1);
    }
    return MXC_OK;
}

static int is_name_of(const mxc_param *p, const char *name) {
    return name && (strcmp(p->name, name) == 0 || (p->alias && strcmp(p->alias, name) == 0));
}

static mxc_status check_def(const mxc_optimizer_def *def) {
    if (def->size != sizeof *def)
        return MXC_FAIL(MXC_EINVAL, "mxc_optimizer_register: def.size is %zu, expected %zu", def->size, sizeof *def);
    if (!def->name || !*def->name || !def->update)
        return MXC_FAIL(MXC_EINVAL, "mxc_optimizer_register: def.name and def.update must be set");
    if (mxci_list_count(def->states) > MXC_OPTIMIZER_STATES)
        return MXC_FAIL(MXC_EINVAL, "mxc_optimizer_register: %s has %d states, expected at most %d", def->name,
                        mxci_list_count(def->states), MXC_OPTIMIZER_STATES);
    MXC_TRY(check_state_names(def));
    if (def->params && !def->param_size)
        return MXC_FAIL(MXC_EINVAL, "mxc_optimizer_register: %s has params but no param_size", def->name);
    for (const mxc_param *own = def->params; own && own->name; own++)
        for (const mxc_param *p = common_schema; p->name; p++)
            if (is_name_of(p, own->name) || is_name_of(p, own->alias))
                return MXC_FAIL(MXC_EINVAL, "mxc_optimizer_register: %s: every optimizer has the parameter %s already",
                                def->name, p->name);
    return MXC_OK;
}

mxc_status mxc_optimizer_register(const mxc_optimizer_def *def) {
    MXC_TRY(MXCI_NON_NULL(def));
    MXC_TRY(check_def(def));
    registered_rule *added = mxci_calloc(1, sizeof *added), **end = &registry.first;
    if (!added)
        return MXC_FAIL(MXC_ENOMEM, "mxc_optimizer_register: no memory for %s", def->name);
    added->rule = (rule){
        .name = def->name,
        .doc = def->doc ? def->doc : "",
        .schema = common_schema,
        .plain = {NULL, def->states},
        .counts = 1,
        .needs_whole_weights = def->needs_whole_weights,
        .init_state = def->init_state,
        .update = def->update,
        .def = def,
    };
    int is_taken = 0;
    for (int i = 0; i < BUILT_IN; i++)
        is_taken |= strcmp(built_in[i].name, def->name) == 0;
    mxci_global_lock(&registry.lock);
    for (; *end; end = &(*end)->next)
        is_taken |= strcmp((*end)->rule.name, def->name) == 0;
    if (!is_taken)
        *end = added;
    mxci_global_unlock(&registry.lock);
    if (!is_taken)
        return MXC_OK;
    mxci_free(added);
    return MXC_FAIL(MXC_EEXIST, "mxc_optimizer_register: the name \"%s\" is taken", def->name);
}

/* ---- documentation ----------------------------------------------------------------------------------------------- */

const char *mxc_optimizer_name_at(int index) {
    const rule *r = mxci_optimizer_rule_at(index);
    return r ? r->name : NULL;
}

mxc_status mxc_optimizer_describe(const char *name, char **out) {
    const rule *r;
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(name));
    MXC_TRY(mxci_optimizer_find_rule(name, &r));
    mxci_text text = {0};
    mxci_text_printf(&text, "%s\n\n", r->name);
    mxci_document_words(&text, "", r->doc);
    mxci_text_add(&text, "\n");
    mxci_document_params(&text, r->schema);
    if (r->def && r->def->params)
        mxci_document_params(&text, r->def->params);
    return mxci_text_take(&text, out);
}
