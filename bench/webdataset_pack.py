# SPDX-License-Identifier: Apache-2.0
"""Peer: write the files of a NUL-separated list with webdataset's TarWriter, as its users do.

    webdataset_pack.py LIST OUT
"""
import itertools
import os
import sys

import webdataset


def main():
    names = open(sys.argv[1], "rb").read().decode().split("\0")[:-1]
    with webdataset.TarWriter(f"{sys.argv[2]}/webdataset.tar") as sink:
        for stem, files in itertools.groupby(names, lambda name: os.path.splitext(name)[0]):
            sample = {"__key__": stem}
            for name in files:
                with open(name, "rb") as file:
                    sample[os.path.splitext(name)[1][1:]] = file.read()
            sink.write(sample)


if __name__ == "__main__":
    main()
