/* SPDX-License-Identifier: Apache-2.0 */
/* What the process says when it ends; frozen, and described in docs/cli.md. */
#ifndef CLI_EXIT_H
#define CLI_EXIT_H

enum {
    EXIT_OK = 0,
    EXIT_DATA = 1,      /* the data are bad, or verify found problems */
    EXIT_USAGE = 2,     /* the command line is wrong */
    EXIT_IO = 3,        /* a file or system error, or an output that exists */
    EXIT_TEMPORARY = 4, /* an error that may be gone when tried again */
    EXIT_SIGNAL = 128,  /* and the signal's number */
};

#endif
