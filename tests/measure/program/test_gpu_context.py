"""A context is held on each GPU while a run is measured: shown with a `libcuda` that counts."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from energy_measure.sampling.gpu_keepalive import LIBRARY, gpus_awake

CUDA = """
#include <stdio.h>
#include <stdlib.h>
int cuInit(unsigned flags) { return (int)flags; }
int cuDeviceGetCount(int *count) { *count = 3; return 0; }
int cuDeviceGet(int *device, int number) { *device = number + 10; return 0; }
int cuDevicePrimaryCtxRetain(void **context, int device) {
    FILE *log = fopen(getenv("CUDA_LOG"), "a");
    fprintf(log, "%d\\n", device);
    fclose(log);
    *context = log;
    return device == 12;
}
"""


def test_contexts_are_held_before_the_baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cuda.c").write_text(CUDA)
    library = tmp_path / "libcuda.so.1"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, tmp_path / "cuda.c"], check=True)
    monkeypatch.setenv(LIBRARY, str(library))
    monkeypatch.setenv("CUDA_LOG", str(tmp_path / "log"))
    with gpus_awake(True) as held:
        assert held == 2, "the third refuses"
        assert (tmp_path / "log").read_text() == "10\n11\n12\n"


def test_without_cuda_nothing_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIBRARY, str(tmp_path / "absent.so"))
    with gpus_awake(True) as held:
        assert held == 0
    with gpus_awake(False) as held:
        assert held == 0
