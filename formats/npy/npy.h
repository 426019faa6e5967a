/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The header of a NumPy array file, versions 1.0 to 3.0. Specification: NumPy Enhancement Proposal
 * 1, "A Simple File Format for NumPy Arrays", and numpy.lib.format.
 */
#ifndef FMT_NPY_H
#define FMT_NPY_H

#include "fmt.h"

enum { FMT_NPY_DIMS_MAX = 32 };

typedef struct {
    char kind;      /* of numbers: 'b' boolean, 'i' signed, 'u' unsigned, 'f' floating */
    uint32_t width; /* bytes of one: 1, 2, 4 or 8 */
    uint32_t dims;
    uint64_t shape[FMT_NPY_DIMS_MAX];
    size_t data;   /* where the numbers begin, in C order and little-endian */
    uint64_t size; /* bytes of them all: they end with the file */
} fmt_npy;

/*
 * Read the header of the whole file `in`. FMT_EUNSUPPORTED for numbers that are big-endian,
 * complex, structures or objects, and for Fortran order of two dimensions or more.
 */
fmt_status fmt_npy_read(fmt_npy *out, fmt_span in, fmt_fault *fault);

#endif
