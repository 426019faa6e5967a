/* SPDX-License-Identifier: Apache-2.0 */
/* What `order --stats` prints, for people or as a line of JSON. */
#ifndef CLI_ORDER_REPORT_H
#define CLI_ORDER_REPORT_H

#include "order_stats.h"

void order_report_text(const order_stats *s, const order_stats_opts *opts);
void order_report_json(const order_stats *s, const order_stats_opts *opts);

#endif
