/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A net of two layers for the example trainer: ReLU between them, softmax behind. Its sums are
 * always taken in the same order, so the same samples give the same weights, bit for bit.
 */
#ifndef EXAMPLES_NET_H
#define EXAMPLES_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint32_t inputs, hidden, classes;
    size_t count;     /* of weights */
    float *weights;   /* inputs x hidden, hidden, hidden x classes, classes */
    float *gradient;  /* likewise; of the samples since the last step */
    float *activity;  /* of the hidden layer, of the classes */
    uint32_t samples; /* since the last step */
} net;

/* Random weights that `seed` decides. False without memory; net_clear it all the same. */
bool net_init(net *n, uint32_t inputs, uint32_t hidden, uint32_t classes, uint64_t seed);
void net_clear(net *n);

/* Add a sample to the gradient. Returns its loss. */
double net_learn(net *n, const float *input, uint32_t label);

/* Move the weights against the mean gradient. */
void net_step(net *n, float rate);

uint64_t net_hash(const net *n);

#endif
