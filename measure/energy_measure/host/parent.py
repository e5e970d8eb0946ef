"""Ends this process when the one that started it is gone.

Whoever starts a measurement for others (an editor, a worker of a campaign) hands it a pipe as standard input and keeps
the other end. However that process ends, the system closes the pipe. The kernel's own signal for it (`PR_SET_PDEATHSIG`)
would follow the *thread* that started the measurement, and exists on Linux alone.
"""

from __future__ import annotations

import os
import signal
import threading

GRACE_SECONDS = 10.0
"""For ending in good order, as after Ctrl-C; what is left then is ended by the guard of the program."""
INTERRUPTED = 130


def end_with_standard_input() -> None:
    """From now on, interrupt this process as soon as its standard input closes."""
    threading.Thread(target=_watch, name="parent", daemon=True).start()


def _watch() -> None:
    try:
        while os.read(0, 4096):
            pass
    except OSError:
        pass
    timer = threading.Timer(GRACE_SECONDS, os._exit, (INTERRUPTED,))
    timer.daemon = True
    timer.start()
    os.kill(os.getpid(), signal.SIGINT)
