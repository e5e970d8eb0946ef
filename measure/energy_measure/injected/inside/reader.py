"""Reads the profiles of a run into rows that need nothing of TensorFlow: `PYTHON reader.py FOLDER`, after the program's end.

A process of its own, in the program's own interpreter: a profile that is broken or too large costs what is inside
alone. Of TensorFlow it needs the descriptions of the files (Protocol Buffers), not TensorFlow itself.

For `inside-PID.jsonl` it writes `inside-PID.rows`, int64 with the columns of `COLUMNS`, and `inside-PID.json`: the
names, what XLA made of which operations, and what could not be read.
"""

from __future__ import annotations

import sys

if __name__ == "__main__" and sys.path:
    # This folder holds modules with ordinary names.
    del sys.path[0]

import glob
import json
import os
import types
from array import array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterator, List, Optional, Tuple

COLUMNS = ("session", "name", "kind", "instance", "start", "end", "thread")
OPERATION, WORKER, INPUT, EAGER, COMPILED, DEVICE = range(6)
"""Kinds of rows: where an operation ran, where threads worked for it, the input pipeline, outside of graphs, XLA, a GPU."""
MARK = "energy-lsp:"
MOMENT = MARK + "at:"
WAITING = ("Root", "Prefetch", "Model", "MaxIntraOpParallelism", "PrivateThreadPool")
"""Parts of the input pipeline that wait for others."""
MOST_ROWS = 4_000_000


class Names:
    """Texts by number."""

    def __init__(self) -> None:
        self.texts: List[str] = []
        self.numbers: Dict[str, int] = {}

    def __getitem__(self, text: str) -> int:
        number = self.numbers.get(text)
        if number is None:
            number = self.numbers[text] = len(self.texts)
            self.texts.append(text)
        return number


class Reader:
    """The profiles of one process."""

    def __init__(self, messages: Any) -> None:
        self.messages = messages
        self.rows = array("q")
        self.names = Names()
        self.modules: Dict[str, Dict[str, List[str]]] = {}
        self.problems: List[str] = []
        self.instances = 0
        self.threads: Dict[Tuple[int, int], int] = {}

    def read(self, path: str, session: int, offset: int) -> None:
        """One file; `offset`: nanoseconds from the monotonic clock to the calendar's."""
        space = self.messages.XSpace()
        with open(path, "rb") as file:
            space.ParseFromString(file.read())
        if not space.planes:
            raise ValueError("it is empty")
        shift = clock_shift(space, offset)
        # Modules first: events of XLA are told by them.
        for plane in sorted(space.planes, key=lambda plane: plane.name != "/host:metadata"):
            if len(self.rows) // len(COLUMNS) > MOST_ROWS:
                self.problems.append("The profiles are larger than can be read: the last ones were left out.")
                return
            if plane.name == "/host:metadata":
                self.read_modules(plane)
            elif plane.name.startswith("/device:GPU"):
                self.read_device(plane, session, shift)
            elif plane.name == "/host:CPU":
                self.read_host(plane, session, shift)

    def add(
        self, session: int, name: int, kind: int, instance: int, start: int, end: int, thread: int
    ) -> None:
        """Keep one row; one without length says nothing."""
        if end > start:
            self.rows.extend((session, name, kind, instance, start, end, thread))

    # The processor

    def read_host(self, plane: Any, session: int, shift: int) -> None:
        """Threads of the processor: operations, and the regions in which other threads work for them."""
        kinds = {number: kind_of(data.name) for number, data in plane.event_metadata.items()}
        names = {number: data.name for number, data in plane.event_metadata.items()}
        stats = {data.name: number for number, data in plane.stat_metadata.items()}
        producers: Dict[int, Tuple[int, int, int]] = {}
        """By the number that a piece of work was handed over with: name, kind and instance of the operation."""
        regions: List[Tuple[int, int, int, int, List[Any]]] = []
        ends: Dict[int, int] = {}
        launched: List[Tuple[int, int, int, int, int, int]] = []
        for line in plane.lines:
            base = shift_of(line, shift)
            thread = self.threads.setdefault((session, line.id), len(self.threads))
            self.read_line(
                line, base, thread, session, kinds, names, stats, plane, producers, regions, ends, launched
            )
        for name, instance, began, ended, handed, thread in launched:
            # XLA's operations may end on another thread.
            self.add(session, name, COMPILED, instance, began, max(ended, ends.get(handed, ended)), thread)
        self.resolve(regions, producers, session)

    def read_line(
        self,
        line: Any,
        base: int,
        thread: int,
        session: int,
        kinds: Dict[int, str],
        names: Dict[int, str],
        stats: Dict[str, int],
        plane: Any,
        producers: Dict[int, Any],
        regions: List[Any],
        ends: Dict[int, int],
        launched: List[Any],
    ) -> None:
        """One thread's events in order of time; an operation inside another takes its time from it."""
        producer, consumer = stats.get("_p", -1), stats.get("_c", -1)
        hlo_op, hlo_module = stats.get("hlo_op", -1), stats.get("hlo_module", -1)
        program = stats.get("program_id", -1)
        events = []
        for event in line.events:
            kind = kinds.get(event.metadata_id, "")
            if kind:
                begin = base + event.offset_ps // 1000
                events.append((begin, -event.duration_ps, event.metadata_id, kind, event))
            elif hlo_op >= 0 and any(stat.metadata_id == hlo_op for stat in event.stats):
                begin = base + event.offset_ps // 1000
                events.append((begin, -event.duration_ps, event.metadata_id, "hlo", event))
        events.sort(key=lambda one: (one[0], one[1]))
        open_: List[List[int]] = []
        """Operations under way: end, since when they are not interrupted, name, kind, instance."""
        marks: List[Tuple[int, str]] = []
        regions_here: List[List[Any]] = []
        named_input = line.name.startswith("tf_data")

        def close(until: int) -> None:
            while open_ and open_[-1][0] <= until:
                ended, since, name, kind, instance = open_.pop()
                self.add(session, name, kind, instance, since, ended, thread)
                if open_:
                    open_[-1][1] = max(open_[-1][1], ended)

        for begin, negative, number, kind, event in events:
            close(begin)
            while marks and marks[-1][0] <= begin:
                marks.pop()
            end = begin - negative // 1000
            if kind == "record":
                handed = stat_value(event, producer)
                if open_:
                    producers[handed] = (open_[-1][2], open_[-1][3], open_[-1][4])
                elif regions_here:
                    producers[handed] = (-1, -1, regions_here[-1][1])
            elif kind == "start":
                regions_here.append([begin, stat_value(event, consumer)])
            elif kind == "stop":
                if regions_here:
                    since, handed = regions_here.pop()
                    if not regions_here and not named_input:
                        regions.append((since, begin, handed, thread))
            elif kind == "mark":
                marks.append((end, names[number][len(MARK) :]))
            elif kind == "end":
                ends[stat_value(event, consumer)] = end
            elif kind == "hlo":
                module = text_value(event, hlo_module, plane)
                text = "hlo:%s(%s):%s" % (
                    module,
                    stat_value(event, program),
                    text_value(event, hlo_op, plane),
                )
                self.instances += 1
                handed = stat_value(event, producer)
                name = self.names[text]
                producers.setdefault(handed, (name, COMPILED, self.instances))
                launched.append((name, self.instances, begin, end, handed, thread))
            else:
                if kind == "eager":
                    inside = marks[-1][1] if marks else ""
                    text, code = "eager:%s:%s" % (inside, names[number].split(": ", 1)[1]), EAGER
                elif kind == "input":
                    text, code = names[number], INPUT
                    if open_ and open_[-1][3] == INPUT:
                        continue  # parts of one element's way: the outermost that does not wait stands for them
                else:
                    text, code = names[number], INPUT if named_input else OPERATION
                if open_:
                    outer = open_[-1]
                    self.add(session, outer[2], outer[3], outer[4], outer[1], begin, thread)
                    outer[1] = end
                self.instances += 1
                open_.append([end, begin, self.names[text], code, self.instances])
        close(sys.maxsize)

    def resolve(self, regions: List[Any], producers: Dict[int, Any], session: int) -> None:
        """Say for which operation each region of a worker ran."""
        for since, until, handed, thread in regions:
            for _ in range(8):  # work that was handed on by a worker
                name, kind, instance = producers.get(handed, (-1, -1, -1))
                if name >= 0 or instance < 0:
                    break
                handed = instance
            if name >= 0 and kind in (OPERATION, EAGER, COMPILED):
                self.add(session, name, WORKER, instance, since, until, thread)

    # Others

    def read_device(self, plane: Any, session: int, shift: int) -> None:
        """A GPU: kernels on its streams, with the operation that launched them."""
        stats = {data.name: number for number, data in plane.stat_metadata.items()}
        operation = next((stats[name] for name in ("tf_op", "name", "long_name") if name in stats), -1)
        hlo_op, hlo_module = stats.get("hlo_op", -1), stats.get("hlo_module", -1)
        program = stats.get("program_id", -1)
        for line in plane.lines:
            if not line.name.startswith("Stream"):
                continue  # derived from the streams
            base = shift_of(line, shift)
            thread = self.threads.setdefault((session, line.id), len(self.threads))
            for event in line.events:
                text = text_value(event, operation, plane)
                hlo = text_value(event, hlo_op, plane)
                if hlo:
                    module = text_value(event, hlo_module, plane)
                    text = "hlo:%s(%s):%s" % (module, stat_value(event, program), hlo)
                text = text or plane.event_metadata[event.metadata_id].name
                begin = base + event.offset_ps // 1000
                self.instances += 1
                self.add(
                    session,
                    self.names[text],
                    DEVICE,
                    self.instances,
                    begin,
                    begin + event.duration_ps // 1000,
                    thread,
                )

    def read_modules(self, plane: Any) -> None:
        """What XLA has compiled: the operations that each of its instructions stands for, the last one first."""
        try:
            from tensorflow.compiler.xla.service import hlo_pb2
        except ImportError:
            self.problems.append("This TensorFlow does not say what XLA compiled.")
            return
        for data in plane.event_metadata.values():
            for stat in data.stats:
                if stat.WhichOneof("value") != "bytes_value" or data.name in self.modules:
                    continue
                proto = hlo_pb2.HloProto()
                try:
                    proto.ParseFromString(stat.bytes_value)
                except Exception:
                    continue
                self.modules[data.name] = operations_of(proto.hlo_module)


def operations_of(module: Any) -> Dict[str, List[str]]:
    """For each instruction the operations of TensorFlow in it: its own, then those of what it is fused from."""
    computations = {one.id: one for one in module.computations}
    found: Dict[str, List[str]] = {}
    for computation in module.computations:
        for instruction in computation.instructions:
            operations = [instruction.metadata.op_name] if instruction.metadata.op_name else []
            for inner in instruction.called_computation_ids:
                called = computations.get(inner)
                for one in reversed(called.instructions) if called is not None else ():
                    if one.metadata.op_name and one.opcode not in ("parameter", "constant", "broadcast"):
                        operations.append(one.metadata.op_name)
            if operations:
                found[instruction.name] = list(dict.fromkeys(operations))
    return found


def kind_of(name: str) -> str:
    """What an event of the processor says; nothing for one that is not needed."""
    if name.startswith("ThreadpoolListener::"):
        return {"Record": "record", "StartRegion": "start", "StopRegion": "stop"}.get(name[20:], "")
    if name.startswith(MARK):
        return "" if name.startswith(MOMENT) else "mark"
    if name.startswith("EagerLocalExecute: "):
        return "" if name.startswith("EagerLocalExecute: __") else "eager"
    if name.startswith("Iterator::"):
        last = name.rsplit("::", 1)[1].split("[", 1)[0]
        return "" if last in WAITING or last.startswith("Parallel") else "input"
    if name.startswith("end: "):
        return "end"
    before, colon, kind = name.rpartition(":")
    if colon and before and not before.endswith(":") and kind[:1] in UPPER and " " not in name:
        return "operation"
    return ""


UPPER = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ_")


def shift_of(line: Any, shift: int) -> int:
    """Nanoseconds from a line's offsets to the monotonic clock."""
    return int(line.timestamp_ns) + shift


def clock_shift(space: Any, offset: int) -> int:
    """Nanoseconds from the profile's clock to the monotonic one; `offset`: from the monotonic clock to the calendar's.

    Newer profilers say when they began by the calendar; lines count from there. Older ones do not: an event of ours has
    the moment in its name.
    """
    for plane in space.planes:
        for stat in plane.stats:
            if plane.stat_metadata[stat.metadata_id].name == "profile_start_time":
                return int(stat.uint64_value or stat.int64_value) - offset
    for plane in space.planes:
        ours = {
            number: int(data.name[len(MOMENT) :])
            for number, data in plane.event_metadata.items()
            if data.name.startswith(MOMENT) and data.name[len(MOMENT) :].isdigit()
        }
        for line in plane.lines if ours else ():
            for event in line.events:
                if event.metadata_id in ours:
                    return ours[event.metadata_id] - int(line.timestamp_ns) - int(event.offset_ps) // 1000
    return -offset  # lines have the time of the calendar themselves


def stat_value(event: Any, number: int) -> int:
    """A number that an event carries, GPUs as a text; -1 if it does not."""
    for stat in event.stats:
        if stat.metadata_id == number:
            if stat.WhichOneof("value") == "str_value":
                return int(stat.str_value) if stat.str_value.isdigit() else -1
            return int(stat.int64_value or stat.uint64_value)
    return -1


def text_value(event: Any, number: int, plane: Any) -> str:
    """A text that an event carries, or nothing."""
    for stat in event.stats:
        if stat.metadata_id == number:
            kind = stat.WhichOneof("value")
            if kind == "ref_value":
                return str(plane.stat_metadata[stat.ref_value].name)
            return str(stat.str_value) if kind == "str_value" else ""
    return ""


def messages() -> Any:
    """The description of profiles that TensorFlow ships, without loading TensorFlow."""
    if "tensorflow" not in sys.modules:
        for folder in sys.path:
            inside = os.path.join(folder, "tensorflow")
            if os.path.isdir(inside):
                package = types.ModuleType("tensorflow")
                package.__path__ = [inside]
                sys.modules["tensorflow"] = package
                break
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    return xplane_pb2


def sessions_of(path: str) -> Iterator[Tuple[int, List[Any]]]:
    """The sessions that a journal names, by number; a line cut off by a killed process is left out."""
    number = 0
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith('["session"'):
                try:
                    yield number, json.loads(line)[1]
                except ValueError:
                    continue
                number += 1


def read_process(journal: str, descriptions: Any) -> None:
    """Read all profiles of one process."""
    reader = Reader(descriptions)
    folder = os.path.dirname(journal)
    for number, (name, _, _, offset, *_) in sessions_of(journal):
        found = glob.glob(os.path.join(folder, name, "**", "*.xplane.pb"), recursive=True)
        if not found:
            reader.problems.append("A window's profile was not written.")
        for path in found[:1]:
            rows, instances = len(reader.rows), reader.instances
            try:
                reader.read(path, number, offset)
            except Exception as problem:
                del reader.rows[rows:]
                reader.instances = instances
                reader.problems.append("A window's profile cannot be read (%s)." % one_line(problem))
    stem = journal[: -len(".jsonl")]
    with open(stem + ".rows", "wb") as file:
        reader.rows.tofile(file)
    content = {
        "names": reader.names.texts,
        "modules": reader.modules,
        "problems": sorted(set(reader.problems)),
    }
    with open(stem + ".json", "w", encoding="utf-8") as text:
        json.dump(content, text)


def one_line(problem: BaseException) -> str:
    """What went wrong, without what is in the file."""
    return (type(problem).__name__ + ": " + " ".join(str(problem).split()))[:120]


def main(arguments: Optional[List[str]] = None) -> None:
    """Read what is in a run's folder."""
    folder = (arguments or sys.argv[1:])[0]
    descriptions = messages()
    for journal in sorted(glob.glob(os.path.join(folder, "inside-*.jsonl"))):
        read_process(journal, descriptions)


if __name__ == "__main__":
    main()
