#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pread.py TIMES FILE...: read files through one buffer of 256 KiB, and print how fast, as a line of JSON."""
import json
import os
import sys
import time

buffer = bytearray(256 << 10)
total, began = 0, time.perf_counter()
for path in sys.argv[2:] * int(sys.argv[1]):
    fd, offset = os.open(path, os.O_RDONLY), 0
    while got := os.preadv(fd, [buffer], offset):
        offset += got
    os.close(fd)
    total += offset
seconds = time.perf_counter() - began
print(json.dumps({"bytes": total, "seconds": seconds, "bytes_per_s": total / seconds}))
