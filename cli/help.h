/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "opt.h"

/* Text for people on standard output: of the program, of one verb. */
void help_print_program(void);
void help_print_verb(const verb *v);

#endif
