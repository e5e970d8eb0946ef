"""Outside of graphs operations run as they are called: marks in the profile say whose they are."""

from __future__ import annotations

import sys
import threading

from .frames import Anchor
from .hiding import hide
from .layers import MARK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any, Callable, Dict, List, Optional, Tuple

    from .graphs import Graphs
    from .layers import Layers
    from .windows import Windows

    Call = Tuple[int, int]
    """A call of a layer: its number, and the index of the place that calls it."""

NO_CALL = (0, -1)
TENSORS = 10_000
"""Tensors whose layers are known, at most."""


class Known(threading.local):
    """What one thread knows of its tensors, by their identity."""

    def __init__(self) -> None:
        self.made: Dict[int, Call] = {}
        """The calls of layers that made them."""
        self.took: Dict[int, Call] = {}
        """Those that took them."""
        self.places: Dict[int, int] = {}
        """Where each layer is being called, by its number."""
        self.upcoming: Call = NO_CALL
        """Whose gradients come next."""
        self.used = False
        """A tape went back through them."""


class Eager:
    """Marks of what runs outside of graphs."""

    def __init__(self, windows: Windows, layers: Layers, graphs: Graphs) -> None:
        self.windows = windows
        self.layers = layers
        self.graphs = graphs
        self.known = Known()

    def layer(self, layer: Any, number: int, depth: int, frame: Any) -> Optional[Callable[..., None]]:
        """Mark a layer that is called by the code of a frame; gives what ends the mark."""
        windows = self.windows
        if not windows.eager():
            self.graphs.called_by(frame)  # its operations have the place that calls it
            return None
        outermost = depth == 1 and frame.f_code.co_name == "__call__"
        if (windows.session is None and not outermost) or builds(frame):
            return None
        step = outermost and called_with_values(frame)
        if outermost and not step:
            self.graphs.built_with(layer, number, frame)
        began = windows.begin("eager layer") if step else 0
        trace = None
        if windows.session is not None:
            place = self.known.places[number] = self.graphs.called_by(frame)
            trace = windows.traceme(MARK + "layer:%d:%d" % (number, place))

        def ended(*_: Any) -> None:
            if trace is not None:
                trace.Stop()
            if step:
                windows.end("eager layer", began)

        return ended

    def outputs(self, number: int, frame: Any) -> None:
        """A layer has been called: whose tensors these are tells whose gradients come later."""
        if self.windows.session is None or frame is None or frame.f_code.co_name != "__call__":
            return
        known = self.known
        values = frame.f_locals
        if known.used or len(known.made) > TENSORS:
            # The tensors of a step that a tape went back through are gone: others may have their identity.
            known.used = False
            known.made.clear()
            known.took.clear()
        call = number, known.places.get(number, -1)
        for tensor in flat(values.get("outputs")):
            known.made.setdefault(id(tensor), call)  # the innermost layer ends first
        for tensor in flat(values.get("args")):
            known.took.setdefault(id(tensor), call)

    def gradient(self, inputs: Any, outputs: Any) -> Optional[Callable[..., None]]:
        """Mark the gradient of an operation.

        Tapes go through operations backwards. One whose output is a layer's is the layer's, and so is one that took what
        the layer took; what comes after an operation that took a layer's output is that layer's.
        """
        if self.windows.session is None or self.windows.traceme is None:
            return None
        known = self.known
        known.used = True
        made = [known.made[id(tensor)] for tensor in outputs or () if id(tensor) in known.made]
        took = [known.took[id(tensor)] for tensor in inputs or () if id(tensor) in known.took]
        call = (made + took or [known.upcoming])[0]
        for tensor in inputs or ():
            known.upcoming = known.made.get(id(tensor), known.upcoming)
        trace = self.windows.traceme(MARK + "gradient:%d:%d" % call)
        return lambda *_: trace.Stop()

    def extend_optimizers(self, module: ModuleType) -> None:
        """Mark what an optimizer does; in graphs it makes many operations from one place."""
        kind = getattr(module, "BaseOptimizer", None) or getattr(module, "_BaseOptimizer", None)
        name = "apply" if hasattr(kind, "apply") else "apply_gradients"
        plain = getattr(kind, name, None)
        if plain is None:
            return
        windows, layers = self.windows, self.layers

        def apply(self: Any, *args: Any, **kwargs: Any) -> Any:
            if not windows.ready or not windows.eager():
                anchors = layers.anchors()
                anchors.append(Anchor(sys._getframe()))
                try:
                    return plain(self, *args, **kwargs)
                finally:
                    anchors.pop()
            began = windows.begin("eager optimizer")
            trace = windows.traceme(MARK + "optimizer") if windows.session is not None else None
            try:
                return plain(self, *args, **kwargs)
            finally:
                if trace is not None:
                    trace.Stop()
                windows.end("eager optimizer", began)

        hide(apply, plain)
        setattr(kind, name, apply)


def flat(values: Any) -> List[Any]:
    """The tensors among the first of some values, one level deep: layers take and give lists and dictionaries of them."""
    found: List[Any] = []
    for one in values[:8] if isinstance(values, (list, tuple)) else (values,):
        if isinstance(one, dict):
            one = tuple(one.values())
        found += one if isinstance(one, (list, tuple)) else () if one is None else (one,)
    return found


def builds(frame: Any) -> bool:
    """Whether the frame of a call of Keras 3 is at making the layer's weights, before it calls the layer."""
    return "call_spec" in frame.f_locals and "call_context" not in frame.f_locals


def called_with_values(frame: Any) -> bool:
    """Whether the frame of a layer's call has real values, rather than those that a model is built with."""
    given = (*(frame.f_locals.get("args") or ()), *(frame.f_locals.get("kwargs") or {}).values())
    return not any(type(value).__name__ == "KerasTensor" for value in flat(given))
