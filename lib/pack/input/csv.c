/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/input/csv.h"

#include <csv.h>

size_t pack_csv_record(fmt_span text)
{
    bool quoted = false;
    for (size_t i = 0; i < text.size; i++) {
        quoted ^= text.data[i] == '"'; /* a doubled quote inside quotes changes it twice */
        if (!quoted && text.data[i] == '\n')
            return i + 1;
    }
    return text.size;
}

typedef struct {
    pack_csv_fn each;
    void *context;
    size_t fields;
    shard_status status;
} parsing;

static void on_field(void *bytes, size_t size, void *data)
{
    parsing *p = data;
    if (p->status == SHARD_OK)
        p->status = p->each(p->context, p->fields++, bytes ? bytes : "", size);
}

/* RFC 4180 section 2.4: spaces belong to their field; libcsv would cut them off. */
static int is_no_space(unsigned char c)
{
    (void)c;
    return 0;
}

shard_status pack_csv_fields(fmt_span record, pack_csv_fn each, void *context)
{
    struct csv_parser parser;
    parsing p = {each, context, 0, SHARD_OK};
    if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI) != 0)
        return SHARD_ENOMEM;
    csv_set_space_func(&parser, is_no_space);
    bool parsed = csv_parse(&parser, record.data, record.size, on_field, NULL, &p) == record.size &&
                  csv_fini(&parser, on_field, NULL, &p) == 0;
    bool no_memory = csv_error(&parser) == CSV_ENOMEM;
    csv_free(&parser);
    if (p.status != SHARD_OK)
        return p.status;
    return parsed ? SHARD_OK : no_memory ? SHARD_ENOMEM : SHARD_EFORMAT;
}
