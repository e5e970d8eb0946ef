"""Writes a database as a folder of Parquet files that others can cite, check and query."""

from __future__ import annotations

import hashlib
import json
import shlex
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from energy_data.database.database import Database
from energy_data.dataset import card
from energy_data.dataset.columns import OF_RUNS, RUNS, TABLES, DatasetColumn
from energy_data.model import DEVICES, LAYER_SPAN, STEP_SPAN
from energy_data.problems import DatabaseProblem, explained
from energy_data.rows import unpacked
from energy_data.untrusted.writing import write_file

if TYPE_CHECKING:
    import pyarrow as pa

BATCH = 20_000
ROW_GROUP = 100_000
SMALLEST_DICTIONARY = (
    "api",
    "kind",
    "file",
    "function",
    "inputs",
    "method",
    "device",
    "path",
    "direction",
    "phase",
)
"""Columns whose values repeat; what is known of runs is repeated in any case."""

Rows = Iterable[Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written."""

    folder: Path
    rows: dict[str, int]
    bytes: int


def export_dataset(
    database: Database,
    folder: Path,
    about: card.About,
    *,
    progress: Callable[[str, int], None] = lambda table, rows: None,
) -> Exported:
    """Write the dataset to a folder that is not there yet or empty; all of it or nothing."""
    try:
        import pyarrow  # noqa: F401 - an optional extra
    except ImportError:
        raise DatabaseProblem(
            'Parquet needs pyarrow: install it with `pip install "energy-lsp[parquet]"`.'
        ) from None
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DatabaseProblem(f"{folder} is not empty: name a new folder for the dataset.")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    except OSError as error:
        raise DatabaseProblem(f"{folder} cannot be made ({error.strerror}): name another folder.") from error
    try:
        rows = _write_tables(database, unfinished, about, progress)
        card.write(unfinished, about, rows)
        _write_checksums(unfinished)
        unfinished.chmod(0o755)
        if folder.exists():
            folder.rmdir()
        unfinished.rename(folder)
    except OSError as error:
        raise DatabaseProblem(
            f"{folder} cannot be written ({error.strerror}): name another folder."
        ) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return Exported(folder, rows, sum(path.stat().st_size for path in folder.iterdir()))


def _write_tables(
    database: Database, folder: Path, about: card.About, progress: Callable[[str, int], None]
) -> dict[str, int]:
    runs = _Runs(database)
    sources: dict[str, Iterator[list[Any]]] = {
        "measurements": _measurements(database, runs),
        "runs": _in_columns(RUNS, runs.rows()),
        "phases": _in_columns(
            TABLES["phases"][1],
            _select(
                database, "SELECT run_id, name, joules, seconds, detail FROM phases ORDER BY run_id, name"
            ),
        ),
        "layers": _in_columns(TABLES["layers"][1], _layers(database)),
        "traces": _in_columns(TABLES["traces"][1], _traces(database)),
        "events": _in_columns(TABLES["events"][1], _events(database)),
        "temperatures": _in_columns(TABLES["temperatures"][1], _temperatures(database)),
    }
    written = {}
    for table, batches in sources.items():
        written[table] = _write(folder / f"{table}.parquet", TABLES[table][1], batches, about)
        progress(table, written[table])
    return written


def _write(
    path: Path, columns: Sequence[DatasetColumn], batches: Iterator[list[Any]], about: card.About
) -> int:
    """Write batches of columns; how many rows there were."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = _schema(columns, about)
    joined = {column.name for column in OF_RUNS}
    repeating = [
        c.name for c in columns if c.kind == "text" and (c.name in joined or c.name in SMALLEST_DICTIONARY)
    ]
    rows = 0
    waiting: list[pa.RecordBatch] = []
    with pq.ParquetWriter(path, schema, compression="zstd", use_dictionary=repeating) as writer:
        for arrays in batches:
            waiting.append(pa.RecordBatch.from_arrays(arrays, schema=schema))
            rows += waiting[-1].num_rows
            if sum(batch.num_rows for batch in waiting) >= ROW_GROUP:
                writer.write_table(pa.Table.from_batches(waiting))
                waiting.clear()
        if waiting:
            writer.write_table(pa.Table.from_batches(waiting))
    return rows


def _schema(columns: Sequence[DatasetColumn], about: card.About) -> pa.Schema:
    """Units and descriptions are part of the schema: a table that is copied alone still says what it holds."""
    import pyarrow as pa

    fields = []
    for column in columns:
        notes = {"description": column.description, **({"unit": column.unit} if column.unit else {})}
        fields.append(pa.field(column.name, _type(column), metadata=notes))
    return pa.schema(
        fields, metadata={"dataset": about.title, "license": about.license, "made_by": "energy-lsp"}
    )


def _type(column: DatasetColumn) -> pa.DataType:
    import pyarrow as pa

    return {"text": pa.string(), "integer": pa.int64(), "number": pa.float64(), "boolean": pa.bool_()}[
        column.kind
    ]


def _in_columns(columns: Sequence[DatasetColumn], rows: Rows) -> Iterator[list[Any]]:
    """Rows in batches, each turned into a list of arrays."""
    import pyarrow as pa

    stream = iter(rows)
    while batch := list(islice(stream, BATCH)):
        yield [
            _array(column, values, pa)
            for column, values in zip(columns, zip(*batch, strict=True), strict=True)
        ]


def _array(column: DatasetColumn, values: Sequence[Any], pa: Any) -> Any:
    if column.kind == "boolean":
        values = [None if value is None else bool(value) for value in values]
    return pa.array(values, _type(column))


class _Runs:
    """What is known of each run, looked up once and joined to measurements by arrow itself."""

    def __init__(self, database: Database) -> None:
        self._joined: list[tuple[Any, ...]] = []
        self._more: list[tuple[Any, ...]] = []
        self.position: dict[str, int] = {}
        for run in database.runs():
            self.position[run.id] = len(self._joined)
            machine, environment = run.machine, run.environment
            self._joined.append(
                (
                    *(
                        run.id,
                        run.started,
                        program_of(run.command),
                        PurePosixPath(run.project).name,
                        run.project_id,
                    ),
                    *(run.repository, run.owner, run.branch, run.commit, run.commit_date),
                    *(run.meter, run.estimated, run.stable, machine.cpu, machine.gpu, machine.memory_bytes),
                    *(
                        machine.os,
                        machine.driver,
                        environment.python,
                        environment.tensorflow,
                        environment.keras,
                    ),
                    *(environment.backend, environment.backend_version, environment.precision),
                )
            )
            joules = [run.joules[device].value if device in run.joules else None for device in DEVICES]
            settings = json.dumps(dict(run.settings), sort_keys=True)
            self._more.append(
                (run.status, run.seconds, *joules, run.unaccounted_joules, run.stability_seconds, settings)
            )

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """One row a run."""
        for joined, more in zip(self._joined, self._more, strict=True):
            yield (*joined, *more)

    def columns(self) -> list[Any]:
        """What is joined to measurements, an array a column."""
        import pyarrow as pa

        turned = zip(*self._joined, strict=True) if self._joined else ((),) * len(OF_RUNS)
        return [_array(column, values, pa) for column, values in zip(OF_RUNS, turned, strict=True)]


def _measurements(database: Database, runs: _Runs) -> Iterator[list[Any]]:
    import pyarrow as pa

    columns = TABLES["measurements"][1]
    own = columns[: len(columns) - len(OF_RUNS)]
    stored = {"measurement_id": "id", "inputs": "arguments"}
    names = ", ".join(f'"{stored.get(column.name, column.name)}"' for column in own)
    file = [column.name for column in own].index("file")
    known = runs.columns()
    # By rowid, which is the order of writing: runs stand together, and nothing has to be sorted.
    rows = iter(_select(database, f"SELECT run_id, {names} FROM measurements ORDER BY rowid"))
    while batch := list(islice(rows, BATCH)):
        turned: list[Sequence[Any]] = list(zip(*batch, strict=True))
        run_ids, values = turned[0], turned[1:]
        values[file] = _relative_all(values[file])
        places = pa.array([runs.position[run_id] for run_id in run_ids], pa.int32())
        mine = [_array(column, found, pa) for column, found in zip(own, values, strict=True)]
        yield [*mine, *(column.take(places) for column in known)]


def _select(database: Database, sql: str) -> Rows:
    with explained(database.path):
        cursor = database.connection.cursor()
        cursor.row_factory = None
        yield from cursor.execute(sql)


def _layers(database: Database) -> Rows:
    sql = """SELECT run_id, measurement_id, path, kind, direction, file, line, joules, seconds, count, observed, low, high
             FROM parts ORDER BY run_id, number"""
    for row in _select(database, sql):
        yield (*row[:5], relative(row[5]), *row[6:])


def _events(database: Database) -> Rows:
    sql = f"""SELECT run_id, api, file, line, thread, start, "end" FROM spans
              WHERE api NOT LIKE '{STEP_SPAN}%' AND api NOT LIKE '{LAYER_SPAN}%' ORDER BY run_id, number"""
    for row in _select(database, sql):
        yield (*row[:2], relative(row[2]), *row[3:])


def _traces(database: Database) -> Rows:
    for run_id, device, seconds, watts in _select(
        database, "SELECT run_id, device, seconds, watts FROM traces ORDER BY run_id, device"
    ):
        for second, power in zip(unpacked(seconds), unpacked(watts), strict=False):
            yield run_id, device, second, power


def _temperatures(database: Database) -> Rows:
    for run in database.runs():
        for sensor, series in run.temperature_series.items():
            for second, degrees in series:
                yield run.id, sensor, second, degrees
        if not run.temperature_series:
            for sensor, degrees in run.temperatures.items():
                yield run.id, sensor, 0.0, degrees


def program_of(command: str) -> str:
    """The program's own name: no folders of the machine, no arguments."""
    try:
        words = shlex.split(command)
    except ValueError:  # a quote that is not closed
        words = command.split()
    named = words[1] if len(words) > 1 and words[0].startswith("python") else words[0] if words else ""
    return PurePosixPath(named.replace("\\", "/")).name


def relative(file: str) -> str:
    """A path that says nothing about the machine's folders: only its name if it leads out of the project."""
    path = PurePosixPath(file.replace("\\", "/"))
    outside = path.is_absolute() or ".." in path.parts or ":" in file[:3] or file.startswith("~")
    return path.name if outside else file


def _relative_all(files: Sequence[str]) -> list[str]:
    known = {file: relative(file) for file in set(files)}
    return [known[file] for file in files]


def _write_checksums(folder: Path) -> None:
    """As `sha256sum --check SHA256SUMS` reads them."""
    lines = []
    for path in sorted(folder.iterdir()):
        with path.open("rb") as stream:
            digest = hashlib.sha256()
            while block := stream.read(1 << 20):
                digest.update(block)
        lines.append(f"{digest.hexdigest()}  {path.name}\n")
    write_file(folder / "SHA256SUMS", lines)
