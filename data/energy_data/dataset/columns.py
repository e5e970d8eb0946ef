"""The column dictionary of an exported dataset: what each column holds, and in which unit.

The schema of the files, the data card and the documentation are all made from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from energy_data.model import DEVICES

Kind = Literal["text", "integer", "number", "boolean"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    name: str
    kind: Kind
    description: str
    unit: str = ""
    """As SI writes it; empty where there is none."""


OF_RUNS: tuple[Column, ...] = (
    Column("run_id", "text", "The run, as in runs.parquet."),
    Column("started", "text", "When the run began, UTC, ISO 8601."),
    Column("program", "text", "The program's file name; its arguments are not part of the dataset."),
    Column("project", "text", "The name of the project's folder."),
    Column("project_id", "text", "The project's identity: its root commit, else a salted hash."),
    Column("repository", "text", "Where the project's repository is found."),
    Column("owner", "text", "Who owns the repository."),
    Column("branch", "text", "The branch that was measured."),
    Column("commit", "text", "The commit that was measured."),
    Column("commit_date", "text", "When it was committed, ISO 8601."),
    Column("meter", "text", "What was read."),
    Column("estimated", "boolean", "True where a model of CPU time stood in for an energy sensor."),
    Column(
        "stable", "boolean", "Whether the machine was at rest before the run; null where nobody could tell."
    ),
    Column("machine_cpu", "text", "Processor."),
    Column("machine_gpu", "text", "Graphics processors; empty for none."),
    Column("machine_memory", "integer", "Main memory.", "B"),
    Column("machine_os", "text", "Operating system."),
    Column("machine_driver", "text", "Driver of the graphics processors."),
    Column("python", "text", "Version of Python."),
    Column("tensorflow", "text", "Version of TensorFlow."),
    Column("keras", "text", "Version of Keras."),
    Column("backend", "text", "Keras' back end."),
    Column("backend_version", "text", "Version of the back end."),
    Column("precision", "text", "Keras' precision policy."),
)
"""What is known of a run, joined to each of its measurements."""

RUNS: tuple[Column, ...] = (
    *OF_RUNS,
    Column(
        "status", "text", "finished, failed (the program ended with an error) or partial (it was stopped)."
    ),
    Column("seconds", "number", "Duration of the whole program.", "s"),
    *(
        Column(f"{device}_joules", "number", f"Net energy of the whole program, {device}.", "J")
        for device in DEVICES
    ),
    Column("unaccounted_joules", "number", "Net energy that no call accounts for.", "J"),
    Column(
        "stability_seconds",
        "number",
        "How long the machine was given to come to rest and to cool: one check of power and temperature, until both are "
        "within their limits.",
        "s",
    ),
    Column("settings", "text", "What the run was measured with, as JSON."),
)
MEASUREMENTS: tuple[Column, ...] = (
    Column("measurement_id", "text", "Names the measurement, for layers.parquet."),
    Column("api", "text", "Canonical name of the API."),
    Column("kind", "text", "api, compiled (a function that the program compiled itself) or iteration."),
    Column("file", "text", "The file of the call, relative to the project."),
    Column("line", "integer", "The line of the call, from 1; 0 where it is not known."),
    Column("column", "integer", "The column of the call, from 1; 0 where it is not known."),
    Column("function", "text", "The function around the call; empty at module level."),
    Column("inputs", "text", "Types and shapes of the tensors given to the call, as a JSON list."),
    Column("bytes_args", "integer", "Size of the positional arguments.", "B"),
    Column("bytes_kwargs", "integer", "Size of the keyword arguments.", "B"),
    Column("bytes_object", "integer", "Size of the object that was called, such as a model's weights.", "B"),
    Column("seconds", "number", "Duration of one call.", "s"),
    *(
        column
        for device in DEVICES
        for column in (
            Column(
                f"{device}_joules", "number", f"Net energy of one call, {device}; null if not metered.", "J"
            ),
            Column(f"{device}_stderr", "number", f"Standard error of it, {device}.", "J"),
        )
    ),
    Column("low", "number", "Lower end of the 95% interval of the net energy of one call.", "J"),
    Column("high", "number", "Upper end of it.", "J"),
    Column(
        "covers",
        "text",
        "What the interval holds: sampling (one run), sampling and runs, runs of this machine (one run, with the spread "
        "that its runs usually have); empty where nobody noted it.",
    ),
    Column("exclusive_joules", "number", "Net energy of one call without the calls nested in it.", "J"),
    Column("tail_joules", "number", "Energy after the call's end that its work still caused.", "J"),
    Column("first_joules", "number", "Net energy of the first call of a run.", "J"),
    Column("first_seconds", "number", "Duration of the first call of a run.", "s"),
    Column("count", "integer", "Calls in one run."),
    Column("repeats", "integer", "Runs that the figures are the mean of."),
    Column(
        "resolved",
        "boolean",
        "Whether the meter could tell the call from nothing; false: use no figure of it.",
    ),
    Column("method", "text", "in place, replayed (repeated after the program's end) or imported."),
    Column("at_trace_time", "boolean", "The call ran while a graph was being built."),
)
PHASES: tuple[Column, ...] = (
    Column("run_id", "text", "The run, as in runs.parquet."),
    Column("phase", "text", "What the program was at."),
    Column("joules", "number", "Net energy of the phase.", "J"),
    Column("seconds", "number", "Duration of the phase.", "s"),
    Column("detail", "text", "Joules by what the phase is made of, as JSON."),
)
LAYERS: tuple[Column, ...] = (
    Column("run_id", "text", "The run, as in runs.parquet."),
    Column("measurement_id", "text", "The call that the layer ran in, as in measurements.parquet."),
    Column("path", "text", "The Keras layer's qualified name."),
    Column("kind", "text", "The layer's class, or the operation's type."),
    Column("direction", "text", "forward, backward, optimizer, loss, input or runtime."),
    Column("file", "text", "Where the layer was created, relative to the project."),
    Column("line", "integer", "Line of it; 0 where it is not known."),
    Column("joules", "number", "Energy apportioned to the layer, all calls of one run.", "J"),
    Column("seconds", "number", "Time of it, all calls of one run.", "s"),
    Column("count", "integer", "How often the layer ran in one run."),
    Column("observed", "integer", "How many of these were profiled."),
    Column("low", "number", "Lower end of the interval of its energy.", "J"),
    Column("high", "number", "Upper end of it.", "J"),
)
TRACES: tuple[Column, ...] = (
    Column("run_id", "text", "The run, as in runs.parquet."),
    Column("device", "text", "cpu, ram or gpu."),
    Column("second", "number", "Time since the run began.", "s"),
    Column("watts", "number", "Power up to then, since the sample before.", "W"),
)
EVENTS: tuple[Column, ...] = (
    Column("run_id", "text", "The run, as in runs.parquet."),
    Column("api", "text", "Canonical name of the API."),
    Column("file", "text", "The file of the call, relative to the project."),
    Column("line", "integer", "The line of the call."),
    Column("thread", "integer", "The thread it ran in, numbered within the run."),
    Column("start", "number", "When the call began, since the run began.", "s"),
    Column("end", "number", "When it ended.", "s"),
)
TEMPERATURES: tuple[Column, ...] = (
    Column("run_id", "text", "The run, as in runs.parquet."),
    Column("sensor", "text", "The sensor's name."),
    Column("second", "number", "Time since the run began; negative before it.", "s"),
    Column("degrees", "number", "Temperature.", "°C"),
)

TABLES: dict[str, tuple[str, tuple[Column, ...]]] = {
    "measurements": (
        "One row a call site of a run, with what is known of the run.",
        (*MEASUREMENTS, *OF_RUNS),
    ),
    "runs": ("One row a run of a program.", RUNS),
    "phases": ("What whole programs spent, by what they were at.", PHASES),
    "layers": ("What Keras layers took within a call; apportioned, not metered.", LAYERS),
    "traces": ("Power over the runs.", TRACES),
    "events": ("When calls ran: the longest ones, or all where the run was measured with --events.", EVENTS),
    "temperatures": ("Temperatures before and during the runs.", TEMPERATURES),
}
"""File name without `.parquet` → what it holds."""
