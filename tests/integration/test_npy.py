# SPDX-License-Identifier: Apache-2.0
"""NumPy array files as NumPy writes them."""
import io
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

READ = Path(os.environ.get("SHARD_BUILD", Path(__file__).parent.parent.parent / "build/dev")) / "tests/read_npy"
DTYPES = ["?", "u1", "i1", "<u2", "<i2", "<u4", "<i4", "<u8", "<i8", "<f2", "<f4", "<f8"]
SHAPES = [(), (1,), (7,), (3, 4), (2, 3, 4), (0,), (5, 0, 2), (1,) * 32]


def npy(array, version=None):
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version)
    return out.getvalue()


def read(tmp_path, data):
    path = tmp_path / "x.npy"
    path.write_bytes(data)
    return subprocess.run([READ, path], capture_output=True, text=True, timeout=60)


def check(tmp_path, array, version=None):
    data = npy(array, version)
    result = read(tmp_path, data)
    assert result.returncode == 0, result.stderr
    kind, width, begin, size, *shape = result.stdout.split()
    assert (kind, int(width)) == (array.dtype.kind, array.dtype.itemsize)
    assert tuple(map(int, shape)) == array.shape and int(size) == array.nbytes
    assert data[int(begin):] == array.tobytes()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_of_each_dtype_and_shape_are_read(tmp_path, dtype, shape):
    check(tmp_path, (np.arange(np.prod(shape, dtype=int)) % 2).astype(dtype).reshape(shape))


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_each_version_is_read(tmp_path, version):
    check(tmp_path, np.arange(12, dtype="<f4").reshape(3, 4), version)


def test_fortran_order_of_one_dimension_is_no_other_order(tmp_path):
    check(tmp_path, np.asfortranarray(np.arange(5, dtype="<i4")))


@pytest.mark.parametrize("array, why", [
    (np.zeros(3, ">f4"), ">f4"), (np.zeros(3, ">i8"), ">i8"), (np.zeros(3, "<c8"), "<c8"),
    (np.asfortranarray(np.zeros((3, 4))), "Fortran order"), (np.zeros(3, [("a", "<f4"), ("b", "<i4")]), "npy: "),
    (np.array([None, "x"], dtype=object), "|O"), (np.array(["abc"]), "<U3"), (np.array([b"abc"]), "|S3"),
    (np.zeros(2, "M8[ns]"), "<M8[ns]"), (np.zeros(2, np.longdouble), "f16"),
], ids=lambda x: str(x)[:20])
def test_what_cannot_be_copied_is_refused_by_name(tmp_path, array, why):
    result = read(tmp_path, npy(array))
    assert result.returncode == 1 and why in result.stderr


@pytest.mark.parametrize("version", [(1, 0), (3, 0)])
def test_what_numpy_refuses_to_read_is_refused(tmp_path, version):
    data = npy(np.arange(6, dtype="<u2").reshape(2, 3), version)
    for size in range(len(data)):
        with pytest.raises((ValueError, EOFError)):
            np.lib.format.read_array(io.BytesIO(data[:size]))
        assert read(tmp_path, data[:size]).returncode == 1, size
