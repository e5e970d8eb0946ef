"""The system call `perf_event_open`, which the standard library lacks."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys

_SYSCALL = {"x86_64": 298, "aarch64": 241, "ppc64le": 319, "riscv64": 241}
_ATTRIBUTE_BYTES = 128
_CLOSE_ON_EXEC = 8
_INHERIT, _EXCLUDE_KERNEL, _EXCLUDE_HYPERVISOR = 1 << 1, 1 << 5, 1 << 6

SOFTWARE, TASK_CLOCK = 1, 1
"""Type and number of the event that counts nanoseconds on a CPU."""


def open_event(kind: int, config: int, *, pid: int = -1, cpu: int = -1, inherit: bool = False) -> int:
    """A file descriptor to `read_count` from; OSError where the kernel refuses.

    An inherited event also counts the threads and processes that its process starts from now on, and keeps
    what they counted when they end.
    """
    number = _SYSCALL.get(platform.machine()) if sys.platform == "linux" else None
    if number is None:
        raise OSError(errno.ENOSYS, f"perf events cannot be opened on {sys.platform} ({platform.machine()})")
    # Without the two exclusions the kernel wants more rights; a clock and a power counter ignore them.
    flags = _INHERIT | _EXCLUDE_KERNEL | _EXCLUDE_HYPERVISOR if inherit else 0
    attribute = bytearray(_ATTRIBUTE_BYTES)
    struct.pack_into("=IIQ", attribute, 0, kind, _ATTRIBUTE_BYTES, config)
    struct.pack_into("=Q", attribute, 40, flags)
    block = (ctypes.c_char * _ATTRIBUTE_BYTES).from_buffer(attribute)
    libc = ctypes.CDLL(None, use_errno=True)
    handle = libc.syscall(number, block, pid, cpu, -1, ctypes.c_ulong(_CLOSE_ON_EXEC))
    if handle < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return int(handle)


def read_count(handle: int) -> int:
    """What the event has counted."""
    data = os.read(handle, 8)
    if len(data) != 8:
        raise OSError(errno.EIO, "the event has ended")
    return int.from_bytes(data, sys.byteorder)
