"""The column dictionary of an exported dataset: what each column holds, and in which unit.

The schema of the files, the data card and the documentation are all made from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from energy_data.model import DEVICES

Kind = Literal["text", "integer", "number", "boolean"]


@dataclass(frozen=True, slots=True)
class DatasetColumn:
    """One column of a table."""

    name: str
    kind: Kind
    description: str
    unit: str = ""
    """As SI writes it; empty where there is none."""


OF_RUNS: tuple[DatasetColumn, ...] = (
    DatasetColumn("run_id", "text", "The run, as in runs.parquet."),
    DatasetColumn("started", "text", "When the run began, UTC, ISO 8601."),
    DatasetColumn("program", "text", "The program's file name; its arguments are not part of the dataset."),
    DatasetColumn("project", "text", "The name of the project's folder."),
    DatasetColumn("project_id", "text", "The project's identity: its root commit, else a salted hash."),
    DatasetColumn("repository", "text", "Where the project's repository is found."),
    DatasetColumn("owner", "text", "Who owns the repository."),
    DatasetColumn("branch", "text", "The branch that was measured."),
    DatasetColumn("commit", "text", "The commit that was measured."),
    DatasetColumn("commit_date", "text", "When it was committed, ISO 8601."),
    DatasetColumn("meter", "text", "What was read."),
    DatasetColumn("estimated", "boolean", "True where a model of CPU time stood in for an energy sensor."),
    DatasetColumn(
        "stable", "boolean", "Whether the machine was at rest before the run; null where nobody could tell."
    ),
    DatasetColumn("machine_cpu", "text", "Processor."),
    DatasetColumn("machine_gpu", "text", "Graphics processors; empty for none."),
    DatasetColumn("machine_memory", "integer", "Main memory.", "B"),
    DatasetColumn("machine_os", "text", "Operating system."),
    DatasetColumn("machine_driver", "text", "Driver of the graphics processors."),
    DatasetColumn("python", "text", "Version of Python."),
    DatasetColumn("tensorflow", "text", "Version of TensorFlow."),
    DatasetColumn("keras", "text", "Version of Keras."),
    DatasetColumn("backend", "text", "Keras' back end."),
    DatasetColumn("backend_version", "text", "Version of the back end."),
    DatasetColumn("precision", "text", "Keras' precision policy."),
)
"""What is known of a run, joined to each of its measurements."""

RUNS: tuple[DatasetColumn, ...] = (
    *OF_RUNS,
    DatasetColumn(
        "status", "text", "finished, failed (the program ended with an error) or partial (it was stopped)."
    ),
    DatasetColumn("seconds", "number", "Duration of the whole program.", "s"),
    *(
        DatasetColumn(f"{device}_joules", "number", f"Net energy of the whole program, {device}.", "J")
        for device in DEVICES
    ),
    DatasetColumn("unaccounted_joules", "number", "Net energy that no call accounts for.", "J"),
    DatasetColumn(
        "stability_seconds",
        "number",
        "How long the machine was given to come to rest and to cool: one check of power and temperature, until both are "
        "within their limits.",
        "s",
    ),
    DatasetColumn("settings", "text", "What the run was measured with, as JSON."),
)
MEASUREMENTS: tuple[DatasetColumn, ...] = (
    DatasetColumn("measurement_id", "text", "Names the measurement, for layers.parquet."),
    DatasetColumn("api", "text", "Canonical name of the API."),
    DatasetColumn(
        "kind", "text", "api, compiled (a function that the program compiled itself) or iteration."
    ),
    DatasetColumn("file", "text", "The file of the call, relative to the project."),
    DatasetColumn("line", "integer", "The line of the call, from 1; 0 where it is not known."),
    DatasetColumn("column", "integer", "The column of the call, from 1; 0 where it is not known."),
    DatasetColumn("function", "text", "The function around the call; empty at module level."),
    DatasetColumn("inputs", "text", "Types and shapes of the tensors given to the call, as a JSON list."),
    DatasetColumn("bytes_args", "integer", "Size of the positional arguments.", "B"),
    DatasetColumn("bytes_kwargs", "integer", "Size of the keyword arguments.", "B"),
    DatasetColumn(
        "bytes_object", "integer", "Size of the object that was called, such as a model's weights.", "B"
    ),
    DatasetColumn("seconds", "number", "Duration of one call.", "s"),
    *(
        column
        for device in DEVICES
        for column in (
            DatasetColumn(
                f"{device}_joules", "number", f"Net energy of one call, {device}; null if not metered.", "J"
            ),
            DatasetColumn(f"{device}_stderr", "number", f"Standard error of it, {device}.", "J"),
        )
    ),
    DatasetColumn("low", "number", "Lower end of the 95% interval of the net energy of one call.", "J"),
    DatasetColumn("high", "number", "Upper end of it.", "J"),
    DatasetColumn(
        "covers",
        "text",
        "What the interval holds: sampling (one run), sampling and runs, runs of this machine (one run, with the spread "
        "that its runs usually have); empty where nobody noted it.",
    ),
    DatasetColumn(
        "exclusive_joules", "number", "Net energy of one call without the calls nested in it.", "J"
    ),
    DatasetColumn("tail_joules", "number", "Energy after the call's end that its work still caused.", "J"),
    DatasetColumn("first_joules", "number", "Net energy of the first call of a run.", "J"),
    DatasetColumn("first_seconds", "number", "Duration of the first call of a run.", "s"),
    DatasetColumn("count", "integer", "Calls in one run."),
    DatasetColumn("repeats", "integer", "Runs that the figures are the mean of."),
    DatasetColumn(
        "resolved",
        "boolean",
        "Whether the meter could tell the call from nothing; false: use no figure of it.",
    ),
    DatasetColumn("method", "text", "in place, replayed (repeated after the program's end) or imported."),
    DatasetColumn("at_trace_time", "boolean", "The call ran while a graph was being built."),
)
PHASES: tuple[DatasetColumn, ...] = (
    DatasetColumn("run_id", "text", "The run, as in runs.parquet."),
    DatasetColumn("phase", "text", "What the program was at."),
    DatasetColumn("joules", "number", "Net energy of the phase.", "J"),
    DatasetColumn("seconds", "number", "Duration of the phase.", "s"),
    DatasetColumn("detail", "text", "Joules by what the phase is made of, as JSON."),
)
LAYERS: tuple[DatasetColumn, ...] = (
    DatasetColumn("run_id", "text", "The run, as in runs.parquet."),
    DatasetColumn("measurement_id", "text", "The call that the layer ran in, as in measurements.parquet."),
    DatasetColumn("path", "text", "The Keras layer's qualified name."),
    DatasetColumn("kind", "text", "The layer's class, or the operation's type."),
    DatasetColumn("direction", "text", "forward, backward, optimizer, loss, input or runtime."),
    DatasetColumn("file", "text", "Where the layer was created, relative to the project."),
    DatasetColumn("line", "integer", "Line of it; 0 where it is not known."),
    DatasetColumn("joules", "number", "Energy apportioned to the layer, all calls of one run.", "J"),
    DatasetColumn("seconds", "number", "Time of it, all calls of one run.", "s"),
    DatasetColumn("count", "integer", "How often the layer ran in one run."),
    DatasetColumn("observed", "integer", "How many of these were profiled."),
    DatasetColumn("low", "number", "Lower end of the interval of its energy.", "J"),
    DatasetColumn("high", "number", "Upper end of it.", "J"),
)
TRACES: tuple[DatasetColumn, ...] = (
    DatasetColumn("run_id", "text", "The run, as in runs.parquet."),
    DatasetColumn("device", "text", "cpu, ram or gpu."),
    DatasetColumn("second", "number", "Time since the run began.", "s"),
    DatasetColumn("watts", "number", "Power up to then, since the sample before.", "W"),
)
EVENTS: tuple[DatasetColumn, ...] = (
    DatasetColumn("run_id", "text", "The run, as in runs.parquet."),
    DatasetColumn("api", "text", "Canonical name of the API."),
    DatasetColumn("file", "text", "The file of the call, relative to the project."),
    DatasetColumn("line", "integer", "The line of the call."),
    DatasetColumn("thread", "integer", "The thread it ran in, numbered within the run."),
    DatasetColumn("start", "number", "When the call began, since the run began.", "s"),
    DatasetColumn("end", "number", "When it ended.", "s"),
)
TEMPERATURES: tuple[DatasetColumn, ...] = (
    DatasetColumn("run_id", "text", "The run, as in runs.parquet."),
    DatasetColumn("sensor", "text", "The sensor's name."),
    DatasetColumn("second", "number", "Time since the run began; negative before it.", "s"),
    DatasetColumn("degrees", "number", "Temperature.", "°C"),
)

TABLES: dict[str, tuple[str, tuple[DatasetColumn, ...]]] = {
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
