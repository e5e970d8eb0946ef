"""`energy-lsp calibrate`: learn what calls cost on this machine, so that code that never ran has figures."""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path
from types import FrameType

import click

from energy_data.paths import absolute
from energy_lsp.terminal.echo import say, warn

INTERRUPTED = 130


@click.command()
@click.option("--quick", is_flag=True, help="In about a minute, with wider intervals.")
@click.option(
    "--python", default="", metavar="PYTHON", help="Interpreter to run with. Default: the project's own."
)
@click.option("--meter", default="auto", metavar="auto|NAME", help="Meter to read; see `energy-lsp doctor`.")
@click.option(
    "--progress",
    type=click.Choice(["auto", "json", "none"]),
    default="auto",
    show_default=True,
    help="How to show progress on standard error; json: an object a line, for editors.",
)
@click.option(
    "--db",
    "database",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="PATH",
    help="Energy database to write to; default: this machine's own.",
)
@click.option(
    "--project",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Project whose interpreter is meant. Default: the one around the current folder.",
)
def calibrate(
    quick: bool, python: str, meter: str, progress: str, database: Path | None, project: Path | None
) -> None:
    """Learn what TensorFlow and Keras cost on this machine, so that code that never ran has figures.

    Takes about five minutes on a quiet machine. What is finished when it is interrupted is taken up the next time.
    """
    from energy_lsp.terminal.progress import progress_display
    from energy_measure.calibration.session import calibrate as run
    from energy_measure.meters.cpu_time import set_active_watts
    from energy_measure.program.interpreters import find_interpreter
    from energy_measure.request import project_root, read_options
    from energy_measure.session import Progress

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _interrupt)
    folder = absolute(project or Path.cwd())
    root = project_root(folder)
    options = read_options(root, note=warn, python=python)
    set_active_watts(options.active_watts)
    interpreter = find_interpreter(folder, root, options.python, creates=False)
    began = time.monotonic()
    try:
        with progress_display(progress, shared=False) as (tell, announce):
            announce(
                f"Calibrating with Python {'.'.join(map(str, interpreter.version))} at {interpreter.path}."
            )

            def progressed(stage: str, fraction: float) -> None:
                passed = time.monotonic() - began
                left = passed / fraction - passed if fraction > 0.02 else None
                tell(Progress(stage, fraction, left))

            result = run(
                interpreter, quick=quick, database=database, meter=meter, tell=progressed, announce=announce
            )
    except KeyboardInterrupt:
        say("Interrupted: finished parts are kept for a day; calibrate again to go on.", err=True)
        sys.exit(INTERRUPTED)
    from energy_lsp.predicting.calibration_text import calibration_lines

    for line in calibration_lines(result.calibration, result.points, result.seconds, result.left_out):
        say(line)
    if result.failed:
        say(f"{len(result.failed)} points did not run with this TensorFlow and are left out.", err=True)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """A request to end is answered like Ctrl-C: with everything that was started ended first."""
    raise KeyboardInterrupt
