"""Graphs: of each operation the layer, the line, the forward operation that it is the gradient of, and what it is there for.

All of it is seen at the moment an operation is made, from the stack of layers and the stack of frames; nothing is
looked for in names. Names are what the profiler's events have in common with operations.
"""

from __future__ import annotations

import sys
import threading
import weakref

from . import frames
from .chains import LAST, across_layers, chains_of
from .hiding import hide

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType, ModuleType
    from typing import Any, Callable, Dict, FrozenSet, List, Optional, Set, Tuple

    from .chains import Chain
    from .journal import Journal
    from .layers import Layers

    Row = Tuple[int, str, str, int]
    """Layer's number, forward operation's name, role, index of the place."""

NOTHING: FrozenSet[int] = frozenset()
NOBODY: Tuple[int, Any] = (0, None)
CALLS = ("call", "tf__call")
"""What the method of a layer is called that does its work, as it is written and as AutoGraph writes it anew."""
PASSED = 16
"""Layers whose values one operation hands on, at most."""
RUNS_NODES = ("_run_through_graph", "_run_internal_graph")
"""What runs the nodes that a functional model was built of, one after the other (Keras 3, Keras 2)."""
OPERATIONS = 400_000
"""So many are noted, all graphs together: memory stays bounded in a program that traces without end."""


class Table:
    """What is known of one graph."""

    __slots__ = ("chains", "last", "passed", "rows", "scopes", "written")

    def __init__(self) -> None:
        self.rows: Dict[str, Row] = {}
        """By the operations' names."""
        self.scopes: Dict[str, Row] = {}
        """The last row of each scope of a layer."""
        self.passed: Dict[str, FrozenSet[int]] = {}
        """By operation: the layers whose values a block hands on."""
        self.chains: Dict[str, Tuple[Chain, ...]] = {}
        """By operation: what it may be run as one with."""
        self.last: List[str] = []
        """Operations of these that such a fusion may end with."""
        self.written = 0
        """So many rows are in the journal."""


class Graphs:
    """Operations of all graphs that the program builds."""

    def __init__(self, journal: Journal, layers: Layers, windows: Any) -> None:
        self.journal = journal
        self.layers = layers
        self.windows = windows
        self.eager: Any = None
        self.tables: Any = weakref.WeakKeyDictionary()
        """By graph."""
        self.flows: Set[Tuple[int, int]] = set()
        self.new_flows: List[Tuple[int, int]] = []
        self.noted = 0
        self.places: Dict[frames.Place, int] = {}
        self.built: Dict[Tuple[int, int], int] = {}
        """Where models were built: the index of the place, by the number of a layer and of its node."""
        self.local = threading.local()
        self.defined = 0

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
        table = self.tables.get(graph)
        if table is None:
            table = self.tables[graph] = Table()
        operation_name = operation.name
        stack = self.layers.stack()
        forward = self.forward()
        if forward:
            source, name = forward[-1]
            row = self.find(source, name) or self.in_scope(source, name.rpartition("/")[0])
            table.rows[operation_name] = (
                (row[0], name, "backward", row[3])
                if row is not None
                else (stack[-1] if stack else 0, name, "backward", -1)
            )
        else:
            layer = stack[-1] if stack else 0
            role, place, inner = self.looked_at(frame, layer)
            layer = inner if layer and inner else layer
            if role == "backward" and not layer:
                table.rows[operation_name] = self.gathered(graph, operation, place)
            else:
                row = table.rows[operation_name] = (layer or inner, "", role, place)
                if layer:
                    self.flow(table, operation, operation_name, layer, stack)
                    table.scopes[operation_name.rpartition("/")[0]] = row
                if not role:
                    self.chain(table, operation, operation_name)
        self.noted += 1

    def chain(self, table: Table, operation: Any, name: str) -> None:
        """Note with which operations before it one may be fused."""
        chains = chains_of(operation, table.chains)
        if chains:
            table.chains[name] = chains
            if operation.type in LAST:
                table.last.append(name)

    def flow(self, table: Table, operation: Any, name: str, layer: int, stack: List[int]) -> None:
        """Note from which layers an operation's inputs come.

        What a block does itself between two layers inside of it (adding, reshaping) is passed through.
        """
        sources: Set[int] = set()
        for tensor in operation.inputs:
            source = tensor.op.name
            row = table.rows.get(source)
            if row is None or not row[0] or row[2]:
                continue
            if row[0] == layer or row[0] in stack:
                sources |= table.passed.get(source, NOTHING)
            else:
                sources.add(row[0])
        if not sources:
            return
        table.passed[name] = frozenset(sorted(sources)[-PASSED:])
        for one in sources:
            if one != layer and (one, layer) not in self.flows:
                self.flows.add((one, layer))
                self.new_flows.append((one, layer))

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
            table: Optional[Table] = self.tables.get(graph)
            row = None if table is None else table.rows.get(name)
            if row is not None:
                return row
            graph = getattr(graph, "outer_graph", None)
        return None

    def in_scope(self, graph: Any, scope: str) -> Optional[Row]:
        """What is known of the last operation that a layer made in a scope of a graph."""
        table: Optional[Table] = self.tables.get(graph)
        return None if table is None else table.scopes.get(scope)

    def looked_at(self, frame: Optional[FrameType], layer: int) -> Tuple[str, int, int]:
        """What the frames say: role, place of the program's own line, and whose method runs.

        That is the number of a `tf.Module`, or of a layer whose `call` another one runs by itself (`TimeDistributed`).
        """
        anchors = self.layers.anchors()
        anchor = anchors[-1] if anchors else None
        if layer:
            place, inner = self.called_from(frame, anchor, layer)
            if inner:
                return "", place, self.in_modules(inner[::-1])
            return "", place if anchor is None or anchor.place is None else anchor.place, 0
        role, place, modules = self.walked(frame, anchor)
        if modules and not role:
            return role, place, self.in_modules(modules[::-1])
        return role, place, 0

    def called_from(
        self, frame: Optional[FrameType], anchor: Optional[frames.Anchor], layer: int
    ) -> Tuple[int, List[Any]]:
        """The place of the program's own line nearest to a frame; `anchor`: of the layer that it is in.

        With it the layers inside of that one whose `call` runs without having been called as layers are, innermost first.
        """
        until = anchor.frame if anchor is not None else 0
        here = frames.written_here.get
        numbers = self.layers.numbers
        inner: List[Any] = []
        at = frame
        while at is not None:
            if id(at) == until and anchor is not None:
                return self.called_by(at), inner
            if at.f_code.co_name in CALLS:
                owner = at.f_locals.get("self")
                known = numbers.get(id(owner), NOBODY)[0]
                if known and known != layer and (not inner or inner[-1] is not owner):
                    inner.append(owner)
            name = at.f_code.co_filename
            own = here(name)
            if frames.is_written_here(name) if own is None else own:
                return self.place(at), inner
            at = at.f_back
        return -1, inner

    def built_with(self, layer: Any, number: int, frame: FrameType) -> None:
        """A layer is called to build a model of it: this line calls it, whoever runs the model later."""
        self.built[number, len(getattr(layer, "_inbound_nodes", ()))] = self.place(frame)

    def called_by(self, frame: FrameType, outwards: int = 1) -> int:
        """The place that calls the layer of an anchor, the innermost one or one further out; `frame`: the anchor's.

        In a model that was built of layers that is where it was built. A layer that makes others for itself calls them
        where it is called.
        """
        anchors = self.layers.anchors()
        anchor = anchors[-outwards]
        outer = anchors[-outwards - 1].frame if outwards < len(anchors) else 0
        at = frame.f_back if anchor.place is None else None
        while at is not None:
            if id(at) == outer:
                anchor.place = self.called_by(at, outwards + 1)
            elif at.f_code.co_name in RUNS_NODES:
                anchor.place = self.in_model(anchor.layer, at.f_locals.get("node"))
            elif frames.is_written_here(at.f_code.co_filename):
                anchor.place = self.place(at)
            at = at.f_back if anchor.place is None else None
        return -1 if anchor.place is None else anchor.place

    def in_model(self, layer: Any, node: Any) -> Optional[int]:
        """The place that made a node of a model, if it is one of this layer."""
        for index, one in enumerate(getattr(layer, "_inbound_nodes", ())):
            if one is node:
                return self.built.get((self.layers.number(layer), index))
        return None

    def walked(self, frame: Optional[FrameType], anchor: Optional[frames.Anchor]) -> frames.Walked:
        """Role, place and modules of an operation that is in no layer."""
        role, place = "", -1
        kind = self.layers.module
        modules: List[Any] = []
        until = anchor.frame if anchor is not None else 0
        here = frames.written_here.get
        at = frame
        while at is not None:
            if id(at) == until and anchor is not None and place < 0:
                if anchor.walked is None:
                    anchor.walked = self.walked(at, None)
                outer, place, modules = anchor.walked
                return role or outer, place, modules
            name = at.f_code.co_filename
            own = here(name)
            if frames.is_written_here(name) if own is None else own:
                if place < 0:
                    place = self.place(at)
                if kind is not None:
                    owner = at.f_locals.get("self")
                    new = not modules or modules[-1] is not owner
                    if new and isinstance(owner, kind) and not isinstance(owner, self.layers.keras):
                        modules.append(owner)
            elif not role and not modules and place < 0:
                role = frames.role(name)
            at = at.f_back
        return role, place, modules

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
        table: Optional[Table] = self.tables.get(graph)
        if table is None or table.written == len(table.rows):
            return
        rows = table.rows
        if self.defined > OPERATIONS:
            self.journal.note(
                "The program builds very many graphs: those after the first %d operations are not looked into."
                % OPERATIONS
            )
            return
        table.written = len(rows)
        self.defined += len(rows)
        chains = across_layers(rows, table.chains, table.last)
        self.journal.add("graph", [name, [[key, *row] for key, row in rows.items()], chains])
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
            scope = args[-1] if args and isinstance(args[-1], str) else ""
            source = forward_operation(inputs, outputs, op_name, scope)
            if source is None and not graphs.windows.eager():
                # A gradient that needs nothing of its operation: the scope says whose it is.
                source = module.ops.get_default_graph(), (scope + "/" if scope else "") + op_name
            if source is None:
                trace = graphs.eager.gradient(inputs, outputs)
                try:
                    return plain(op_name, attributes, count, inputs, outputs, *args)
                finally:
                    if trace is not None:
                        trace(None, None, None)
            graphs.forward().append(source)
            try:
                return plain(op_name, attributes, count, inputs, outputs, *args)
            finally:
                graphs.forward().pop()

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
            graphs.forward().append((op.graph, op.name))
            try:
                return plain(scope, op, *args, **kwargs)
            finally:
                graphs.forward().pop()

        hide(_MaybeCompile, plain)
        module._MaybeCompile = _MaybeCompile  # type: ignore[attr-defined]


def forward_operation(inputs: Any, outputs: Any, kind: str, scope: str) -> Optional[Tuple[Any, str]]:
    """Graph and name of the operation that had these outputs, or else the one of its kind that took these inputs.

    Operations side by side may take the same input (branches of a block, the projections of attention): all inputs
    that the tape kept have to be theirs, and `scope`, where the tape saw the operation, tells equal ones apart.
    """
    for tensor in outputs or ():
        graph = getattr(tensor, "graph", None) if is_symbolic(tensor) else None
        if graph is not None:
            return graph, tensor.op.name
    kept = [(at, tensor) for at, tensor in enumerate(inputs or ()) if is_symbolic(tensor)]
    for _, tensor in kept:
        found = [one for one in tensor.consumers() if one.type == kind and takes(one, kept)]
        if found:
            here = [one for one in found if one.name.rpartition("/")[0] == scope]
            return tensor.graph, (here or found)[0].name
    return None


def takes(operation: Any, kept: List[Tuple[int, Any]]) -> bool:
    """Whether an operation has these inputs, each at its position; one that another graph captured tells nothing."""
    inputs = operation.inputs
    return all(
        at < len(inputs) and inputs[at].name == tensor.name
        for at, tensor in kept
        if tensor.graph is operation.graph
    )


def is_symbolic(tensor: Any) -> bool:
    """Whether a tensor stands in a graph: an eager one has a value."""
    return tensor is not None and hasattr(tensor, "op") and not hasattr(tensor, "_numpy_internal")
