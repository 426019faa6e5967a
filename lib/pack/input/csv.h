/* SPDX-License-Identifier: Apache-2.0 */
/* Comma-separated values (RFC 4180), behind which stands libcsv. */
#ifndef PACK_CSV_H
#define PACK_CSV_H

#include "core/alloc.h"
#include "core/error.h"

/* Bytes of the record at the front of `text`, its line's end included; quoted line ends are part of
 * it. */
size_t pack_csv_record(fmt_span text);

/* One field of a record; `number` counts from 0. */
typedef shard_status (*pack_csv_fn)(void *context, size_t number, const char *text, size_t size);

/* Call `each` with the fields of one record. SHARD_EFORMAT where quotes do not fit. */
shard_status pack_csv_fields(fmt_span record, pack_csv_fn each, void *context);

#endif
