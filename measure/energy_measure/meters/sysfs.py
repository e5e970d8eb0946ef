"""Small files of the kernel: what they say, or that they say nothing."""

from __future__ import annotations

from pathlib import Path


def text(path: Path) -> str:
    """The file's text without surrounding blanks; empty if it cannot be read."""
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


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
