"""Small files of the kernel: what they say, or that they say nothing."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def text(path: Path) -> str:
    """The file's text without surrounding blanks; empty if it cannot be read."""
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


def again(handle: int, most: int) -> bytes:
    """What a file that is kept open says now: one system call."""
    if sys.platform != "win32":
        return os.pread(handle, most, 0)
    raise NotImplementedError("meters that read files of the kernel are Linux's")


def number(path: Path) -> int:
    """The file's number; 0 if it holds none."""
    try:
        return int(text(path))
    except ValueError:
        return 0


def is_virtual(procfs: Path) -> bool:
    """True on a machine that says it runs under a hypervisor."""
    for line in text(procfs / "cpuinfo").splitlines():
        if line.startswith("flags"):
            return " hypervisor" in line
    return False
