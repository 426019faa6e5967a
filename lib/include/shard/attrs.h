/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of the public declarations; nothing to call. */
#ifndef SHARD_ATTRS_H
#define SHARD_ATTRS_H

#if defined(__GNUC__)
#define SHARD_API __attribute__((visibility("default")))
#define SHARD_NODISCARD __attribute__((warn_unused_result))
#define SHARD_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define SHARD_API
#define SHARD_NODISCARD
#define SHARD_PRINTF(text, first)
#endif

#ifdef __cplusplus
#define SHARD_BEGIN_DECLS extern "C" {
#define SHARD_END_DECLS }
#else
#define SHARD_BEGIN_DECLS
#define SHARD_END_DECLS
#endif

#endif
