"""What systems do differently about processes: ending a group, limits, the CPU time of what was started.

The rest of the code asks here, so that it names no signal or call that Windows lacks.
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import sys
import time

if sys.platform != "win32":
    import resource

KILL = 9
"""The signal that nothing can refuse; on Windows every signal of `signal_group` is like it."""


def signal_group(leader: int, number: int) -> bool:
    """Send a signal to a process that leads a group and to all in it; False when they are gone."""
    try:
        if sys.platform == "win32":
            os.kill(leader, signal.SIGTERM)  # ends the leader at once, whatever the signal
        else:
            os.killpg(leader, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def kill_group(leader: int) -> None:
    """End what is left of a group."""
    signal_group(leader, KILL)


def was_killed(status: int) -> bool:
    """Whether a process left with this status because it was killed."""
    return status == -KILL


def ran_out_of_cpu(status: int) -> bool:
    """Whether a process left with this status at the limit of `limit_cpu`."""
    return sys.platform != "win32" and status == -signal.SIGXCPU


def limit_cpu(pid: int, seconds: float) -> None:
    """Let the kernel stop a process that takes more CPU time than this, where it can (Linux)."""
    if sys.platform == "linux":
        most = max(1, math.ceil(seconds))
        with contextlib.suppress(OSError, ValueError):
            resource.prlimit(pid, resource.RLIMIT_CPU, (most, most + 5))


def children_cpu_seconds() -> float:
    """CPU time of the children that have ended so far; where the system does not tell, this process's own."""
    if sys.platform != "win32":
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime
    return time.process_time()


def be_urgent() -> None:
    """Run before ordinary processes, where this user may."""
    if sys.platform != "win32":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, 0, -10)
