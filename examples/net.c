/* SPDX-License-Identifier: Apache-2.0 */
#include "net.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- one layer ---- */

/* out = bias + in * weights; the biases stand behind the weights. */
static void forward(const float *weights, const float *in, uint32_t ins, float *out, uint32_t outs)
{
    memcpy(out, weights + (size_t)ins * outs, outs * sizeof *out);
    for (uint32_t i = 0; i < ins; i++)
        for (uint32_t o = 0; o < outs; o++)
            out[o] += in[i] * weights[(size_t)i * outs + o];
}

/* `delta` is the loss's derivative by what the layer put out. */
static void add_gradient(float *gradient, const float *in, uint32_t ins, const float *delta,
                         uint32_t outs)
{
    for (uint32_t i = 0; i < ins; i++)
        for (uint32_t o = 0; o < outs; o++)
            gradient[(size_t)i * outs + o] += in[i] * delta[o];
    for (uint32_t o = 0; o < outs; o++)
        gradient[(size_t)ins * outs + o] += delta[o];
}

/* What the hidden layer put out becomes the loss's derivative by it. */
static void backward(const float *weights, float *hidden, uint32_t count, const float *delta,
                     uint32_t outs)
{
    for (uint32_t h = 0; h < count; h++) {
        float sum = 0;
        for (uint32_t o = 0; o < outs; o++)
            sum += weights[(size_t)h * outs + o] * delta[o];
        hidden[h] = hidden[h] > 0 ? sum : 0;
    }
}

/* Scores become probabilities. */
static void softmax(float *score, uint32_t count)
{
    float most = score[0], sum = 0;
    for (uint32_t i = 1; i < count; i++)
        most = score[i] > most ? score[i] : most;
    for (uint32_t i = 0; i < count; i++) {
        score[i] = expf(score[i] - most);
        sum += score[i];
    }
    for (uint32_t i = 0; i < count; i++)
        score[i] /= sum;
}

/* ---- the net ---- */

/* Even between -1 and 1 (splitmix64). */
static float draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (float)((z ^ z >> 31) >> 40) / (float)(1 << 23) - 1;
}

static size_t layer_size(uint32_t ins, uint32_t outs)
{
    return ((size_t)ins + 1) * outs;
}

bool net_init(net *n, uint32_t inputs, uint32_t hidden, uint32_t classes, uint64_t seed)
{
    size_t first = layer_size(inputs, hidden);
    *n = (net){.inputs = inputs, .hidden = hidden, .classes = classes};
    n->count = first + layer_size(hidden, classes);
    n->weights = calloc(n->count, sizeof *n->weights);
    n->gradient = calloc(n->count, sizeof *n->gradient);
    n->activity = calloc((size_t)hidden + classes, sizeof *n->activity);
    if (!n->weights || !n->gradient || !n->activity)
        return false;
    float reach = sqrtf(3 / (float)inputs); /* keeps the variance of the inputs */
    for (size_t i = 0; i < (size_t)inputs * hidden; i++)
        n->weights[i] = reach * draw(&seed);
    reach = sqrtf(3 / (float)hidden);
    for (size_t i = 0; i < (size_t)hidden * classes; i++)
        n->weights[first + i] = reach * draw(&seed);
    return true;
}

void net_clear(net *n)
{
    free(n->weights);
    free(n->gradient);
    free(n->activity);
    *n = (net){0};
}

double net_learn(net *n, const float *input, uint32_t label)
{
    size_t first = layer_size(n->inputs, n->hidden);
    float *hidden = n->activity, *score = hidden + n->hidden;
    forward(n->weights, input, n->inputs, hidden, n->hidden);
    for (uint32_t h = 0; h < n->hidden; h++)
        hidden[h] = hidden[h] > 0 ? hidden[h] : 0;
    forward(n->weights + first, hidden, n->hidden, score, n->classes);
    softmax(score, n->classes);
    double loss = -log((double)score[label] + 1e-30);
    score[label] -= 1; /* now the loss's derivative by the scores */
    add_gradient(n->gradient + first, hidden, n->hidden, score, n->classes);
    backward(n->weights + first, hidden, n->hidden, score, n->classes);
    add_gradient(n->gradient, input, n->inputs, hidden, n->hidden);
    n->samples++;
    return loss;
}

void net_step(net *n, float rate)
{
    if (n->samples == 0)
        return;
    for (size_t i = 0; i < n->count; i++)
        n->weights[i] -= rate / (float)n->samples * n->gradient[i];
    memset(n->gradient, 0, n->count * sizeof *n->gradient);
    n->samples = 0;
}

/* FNV-1a of the weights' bits. */
uint64_t net_hash(const net *n)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < n->count; i++) {
        uint32_t bits;
        memcpy(&bits, &n->weights[i], sizeof bits);
        hash = (hash ^ bits) * UINT64_C(0x100000001b3);
    }
    return hash;
}
