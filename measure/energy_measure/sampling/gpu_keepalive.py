"""Keeps the GPUs awake while a run is prepared and measured.

A CUDA context alone adds tens of watts. It has to be there before the baseline is read, or the first call
would be charged for it. The program makes its own later, in its own way; this one belongs to a small process
that holds it until the run is over.

    python -m energy_measure.sampling.gpu_keepalive        holds a context on each GPU until standard input ends
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import subprocess
import sys
from collections.abc import Iterator

LIBRARY = "ENERGY_LSP_CUDA_LIBRARY"
"""Another `libcuda.so.1` than the one that the dynamic linker finds."""
START_SECONDS = 20.0


@contextlib.contextmanager
def gpus_awake(wanted: bool) -> Iterator[int]:
    """Hold a context on each GPU if wanted; gives how many are held."""
    if not wanted:
        yield 0
        return
    process = subprocess.Popen(
        [sys.executable, "-m", "energy_measure.sampling.gpu_keepalive"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd="/",
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        answered = select.select([process.stdout], [], [], START_SECONDS)[0]
        line = process.stdout.readline() if answered else b""
        yield int(line) if line.strip().isdigit() else 0
    finally:
        process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(START_SECONDS)
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stdout.close()


def hold_contexts() -> int:
    """Retain the primary context of each GPU; 0 where there is no CUDA."""
    try:
        cuda = ctypes.CDLL(os.environ.get(LIBRARY) or "libcuda.so.1")
    except OSError:
        return 0
    count = ctypes.c_int()
    if cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count)):
        return 0
    held = 0
    for number in range(count.value):
        device, context = ctypes.c_int(), ctypes.c_void_p()
        if cuda.cuDeviceGet(ctypes.byref(device), number) == 0:
            held += cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device) == 0
    return held


def main() -> None:
    """Hold contexts until nobody needs them; the driver takes them back when the process ends."""
    print(hold_contexts(), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
