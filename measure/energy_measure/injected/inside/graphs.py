"""Graphs: of each operation the layer, the line, the forward operation that it is the gradient of, and what it is there for.

All of it is seen at the moment an operation is made, from the stack of layers and the stack of frames; nothing is
looked for in names. Names are what the profiler's events have in common with operations.
"""

from __future__ import annotations

import sys
import threading
import weakref

from . import frames
from .hiding import hide

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType, ModuleType
    from typing import Any, Callable, Dict, FrozenSet, List, Optional, Set, Tuple

    from .journal import Journal
    from .layers import Layers

    Row = Tuple[int, str, str, int]
    """Layer's number, forward operation's name, role, index of the place."""

NOTHING: FrozenSet[int] = frozenset()
PASSED = 16
"""Layers whose values one operation hands on, at most."""
OPERATIONS = 400_000
"""So many are noted, all graphs together: memory stays bounded in a program that traces without end."""


class Graphs:
    """Operations of all graphs that the program builds."""

    def __init__(self, journal: Journal, layers: Layers, windows: Any) -> None:
        self.journal = journal
        self.layers = layers
        self.windows = windows
        self.rows: Any = weakref.WeakKeyDictionary()
        """By graph: a row of each operation's name."""
        self.scopes: Any = weakref.WeakKeyDictionary()
        """By graph: the last row of each scope of a layer."""
        self.written: Any = weakref.WeakKeyDictionary()
        self.passed: Any = weakref.WeakKeyDictionary()
        """By graph and operation: the layers whose values a block hands on."""
        self.flows: Set[Tuple[int, int]] = set()
        self.new_flows: List[Tuple[int, int]] = []
        self.noted = 0
        self.places: Dict[frames.Place, int] = {}
        self.local = threading.local()
        self.defined = 0

    @property
    def forward(self) -> List[Tuple[Any, str]]:
        """Forward operations whose gradients this thread is making: their graph and name."""
        try:
            found: List[Tuple[Any, str]] = self.local.forward
        except AttributeError:
            found = self.local.forward = []
        return found

    # What an operation is

    def made(self, graph: Any, operation: Any, frame: Optional[FrameType]) -> None:
        """An operation was added to a graph, by the code of a frame."""
        rows = self.rows.get(graph)
        if rows is None:
            rows = self.rows[graph] = {}
        stack = self.layers.stack()
        forward = self.forward
        if forward:
            source, name = forward[-1]
            row = self.find(source, name) or self.scopes.get(source, {}).get(name.rpartition("/")[0])
            rows[operation.name] = (
                (row[0], name, "backward", row[3])
                if row is not None
                else (stack[-1] if stack else 0, name, "backward", -1)
            )
        else:
            layer = stack[-1] if stack else 0
            role, place, module = self.looked_at(frame, layer)
            if role == "backward" and not layer:
                rows[operation.name] = self.gathered(graph, operation, place)
            else:
                row = rows[operation.name] = (layer or module, "", role, place)
                if layer:
                    self.flow(graph, operation, layer, stack)
                    scopes = self.scopes.get(graph)
                    if scopes is None:
                        scopes = self.scopes[graph] = {}
                    scopes[operation.name.rpartition("/")[0]] = row
        self.noted += 1

    def flow(self, graph: Any, operation: Any, layer: int, stack: List[int]) -> None:
        """Note from which layers an operation's inputs come.

        What a block does itself between two layers inside of it (adding, reshaping) is passed through.
        """
        rows: Dict[str, Row] = self.rows[graph]
        passed: Dict[str, FrozenSet[int]] = self.passed.setdefault(graph, {})
        sources: Set[int] = set()
        for tensor in operation.inputs:
            name = tensor.op.name
            row = rows.get(name)
            if row is None or not row[0] or row[2]:
                continue
            if row[0] == layer or row[0] in stack:
                sources |= passed.get(name, NOTHING)
            else:
                sources.add(row[0])
        if not sources:
            return
        passed[operation.name] = frozenset(sorted(sources)[-PASSED:])
        for source in sources:
            if source != layer and (source, layer) not in self.flows:
                self.flows.add((source, layer))
                self.new_flows.append((source, layer))

    def gathered(self, graph: Any, operation: Any, place: int) -> Row:
        """A tape adds up gradients by itself: they are those of the operations they come from."""
        for tensor in operation.inputs:
            row = self.find(graph, tensor.op.name)
            if row is not None and row[2] == "backward":
                return row
        return 0, "", "backward", place

    def find(self, graph: Any, name: str) -> Optional[Row]:
        """What is known of an operation of a graph, or of one that the graph was made in."""
        while graph is not None:
            row: Optional[Row] = self.rows.get(graph, {}).get(name)
            if row is not None:
                return row
            graph = getattr(graph, "outer_graph", None)
        return None

    def looked_at(self, frame: Optional[FrameType], layer: int) -> Tuple[str, int, int]:
        """What the frames say: role, place of the program's own line, number of the `tf.Module` whose method runs."""
        role, module, place = "", 0, -1
        kind = self.layers.module
        modules: List[Any] = []
        at = frame
        while at is not None:
            name = at.f_code.co_filename
            if frames.is_own(name) or frames.GENERATED in name:
                if place < 0:
                    place = self.place(at)
                if layer:
                    break
                if kind is not None:
                    owner = at.f_locals.get("self")
                    new = not modules or modules[-1] is not owner
                    if new and isinstance(owner, kind) and not isinstance(owner, self.layers.keras):
                        modules.append(owner)
            elif not role and not layer and not modules and place < 0:
                role = frames.role(name)
            at = at.f_back
        if modules and not role:
            module = self.in_modules(modules[::-1])
        return role, place, module

    def in_modules(self, modules: List[Any]) -> int:
        """The number of the innermost of the modules whose methods run, outermost first."""
        for module in modules:
            number = self.layers.enter(module)
        for _ in modules:
            self.layers.leave()
        return number

    def place(self, frame: FrameType) -> int:
        """The index of the program's own place nearest to a frame."""
        found = frames.own_place(frame)
        if found is None:
            return -1
        index = self.places.get(found)
        if index is None:
            index = self.places[found] = len(self.places)
            self.journal.add("place", [index, *found])
        return index

    def write(self, name: str, graph: Any) -> None:
        """Keep the table of a graph that has become a function."""
        rows: Optional[Dict[str, Row]] = self.rows.get(graph)
        if not rows or self.written.get(graph) == len(rows):
            return
        if self.defined > OPERATIONS:
            self.journal.note(
                "The program builds very many graphs: those after the first %d operations are not looked into."
                % OPERATIONS
            )
            return
        self.written[graph] = len(rows)
        self.defined += len(rows)
        self.journal.add("graph", [name, [[key, *row] for key, row in rows.items()]])
        if self.new_flows:
            self.journal.add("flow", self.new_flows)
            self.new_flows = []

    # Extending what others have written

    def extend_graphs(self, module: ModuleType) -> None:
        """Every graph of a function, bodies of loops too: see each operation when it is made."""
        kind = getattr(module, "FuncGraph", None)
        plain = getattr(kind, "_create_op_internal", None)
        if kind is None or plain is None:
            self.journal.note("This version of TensorFlow is not known: graphs are not looked into.")
            return
        graphs = self

        def _create_op_internal(self: Any, *args: Any, **kwargs: Any) -> Any:
            operation = plain(self, *args, **kwargs)
            try:
                if graphs.noted < 2 * OPERATIONS:
                    graphs.made(self, operation, sys._getframe(1))
            except Exception as problem:
                graphs.journal.note("An operation could not be noted (%r)." % problem)
            return operation

        hide(_create_op_internal, plain)
        kind._create_op_internal = _create_op_internal

    def extend_functions(self, module: ModuleType) -> None:
        """A graph that becomes a function of the runtime is complete."""
        plain = getattr(module, "from_func_graph", None)
        if plain is None:
            return
        graphs = self

        def from_func_graph(name: Any, graph: Any, *args: Any, **kwargs: Any) -> Any:
            graphs.note_written(name, graph)
            return plain(name, graph, *args, **kwargs)

        hide(from_func_graph, plain)
        module.from_func_graph = from_func_graph  # type: ignore[attr-defined]

    def extend_old_functions(self, module: ModuleType) -> None:
        """The same up to TensorFlow 2.12."""
        kind = getattr(module, "_EagerDefinedFunction", None)
        plain = getattr(kind, "__init__", None)
        if kind is None or plain is None:
            return
        graphs = self

        def __init__(self: Any, name: Any, graph: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            plain(self, name, graph, *args, **kwargs)
            graphs.note_written(self.name, graph)

        hide(__init__, plain)
        kind.__init__ = __init__
        self.windows.extend_old_functions(module)

    def note_written(self, name: Any, graph: Any) -> None:
        """Keep the table of a graph; whatever goes wrong, the program goes on."""
        try:
            self.write(name.decode() if isinstance(name, bytes) else str(name), graph)
        except Exception as problem:
            self.journal.note("A graph could not be noted (%r)." % problem)

    def extend_tapes(self, module: ModuleType) -> None:
        """`GradientTape`: which operation a gradient is made of."""
        plain = getattr(module, "_gradient_function", None)
        register = getattr(getattr(module, "pywrap_tfe", None), "TFE_Py_RegisterGradientFunction", None)
        if plain is None or register is None:
            return
        graphs = self

        def _gradient_function(
            op_name: str, attributes: Any, count: int, inputs: Any, outputs: Any, *args: Any
        ) -> Any:
            source = forward_operation(inputs, outputs, op_name)
            if source is None and not graphs.windows.eager():
                # A gradient that needs nothing of its operation: the scope says whose it is.
                scope = args[-1] if args and isinstance(args[-1], str) else ""
                source = module.ops.get_default_graph(), (scope + "/" if scope else "") + op_name
            if source is None:
                trace = graphs.windows.eager_gradient(inputs, outputs)
                try:
                    return plain(op_name, attributes, count, inputs, outputs, *args)
                finally:
                    if trace is not None:
                        trace(None, None, None)
            graphs.forward.append(source)
            try:
                return plain(op_name, attributes, count, inputs, outputs, *args)
            finally:
                graphs.forward.pop()

        hide(_gradient_function, plain)
        module._gradient_function = _gradient_function  # type: ignore[attr-defined]
        register(_gradient_function)
        self.extend_tape(getattr(module, "GradientTape", None))

    def extend_tape(self, kind: Any) -> None:
        """Outside of graphs, going back through a tape is a step of its own."""
        plain = getattr(kind, "gradient", None)
        if plain is None:
            return
        windows = self.windows

        def gradient(self: Any, *args: Any, **kwargs: Any) -> Any:
            if not windows.ready or not windows.eager():
                return plain(self, *args, **kwargs)
            began = windows.begin("eager gradient")
            try:
                return plain(self, *args, **kwargs)
            finally:
                windows.end("eager gradient", began)

        hide(gradient, plain)
        kind.gradient = gradient

    def extend_gradients(self, module: ModuleType) -> None:
        """`tf.gradients`, and the gradients of functions, loops and branches, which are made the same way."""
        plain: Optional[Callable[..., Any]] = getattr(module, "_MaybeCompile", None)
        if plain is None:
            return
        graphs = self

        def _MaybeCompile(scope: str, op: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N802
            assert plain is not None
            graphs.forward.append((op.graph, op.name))
            try:
                return plain(scope, op, *args, **kwargs)
            finally:
                graphs.forward.pop()

        hide(_MaybeCompile, plain)
        module._MaybeCompile = _MaybeCompile  # type: ignore[attr-defined]


def forward_operation(inputs: Any, outputs: Any, kind: str) -> Optional[Tuple[Any, str]]:
    """Graph and name of the operation that had these outputs, or else the one of its kind that took these inputs."""
    for tensor in outputs or ():
        graph = getattr(tensor, "graph", None) if is_symbolic(tensor) else None
        if graph is not None:
            return graph, tensor.op.name
    for tensor in inputs or ():
        if is_symbolic(tensor):
            for consumer in tensor.consumers():
                if consumer.type == kind:
                    return tensor.graph, consumer.name
    return None


def is_symbolic(tensor: Any) -> bool:
    """Whether a tensor stands in a graph: an eager one has a value."""
    return tensor is not None and hasattr(tensor, "op") and not hasattr(tensor, "_numpy_internal")
