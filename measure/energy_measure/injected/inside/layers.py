"""Layers: where each was created, and which one is being called."""

from __future__ import annotations

import sys
import threading
import weakref

from . import frames
from .hiding import hide

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType, ModuleType
    from typing import Any, Dict, List, Optional, Set, Tuple

    from .journal import Journal

STACKS = 100_000
"""Different stacks of layers that are looked at for names, at most."""
MARK = "energy-lsp:"
"""Begins the names of the profiler's events that are ours."""


class Layers:
    """All layers and modules of the program by number, and the stack of those being called on each thread."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.eager: Any = None
        self.local = threading.local()
        self.numbers: Dict[int, Tuple[int, Any]] = {}
        """By the identity of the object: its number, and the weak reference that ends with it."""
        self.places: Dict[int, Optional[frames.Place]] = {}
        self.names: Dict[int, str] = {}
        self.paths: Dict[int, str] = {}
        self.seen: Set[Tuple[int, ...]] = set()
        self.count = 0
        self.keras: Tuple[type, ...] = ()
        self.module: Optional[type] = None

    def stack(self) -> List[int]:
        """Numbers of the layers that this thread is in, outermost first."""
        try:
            found: List[int] = self.local.stack
        except AttributeError:
            found = self.local.stack = []
        return found

    def anchors(self) -> List[frames.Anchor]:
        """The frames of the calls of layers and optimizers that this thread is in, outermost first."""
        try:
            found: List[frames.Anchor] = self.local.anchors
        except AttributeError:
            found = self.local.anchors = []
        return found

    # Creation

    def note_created(self, layer: Any, frame: Optional[FrameType]) -> None:
        """The same; whatever goes wrong, the program goes on."""
        try:
            self.created(layer, frame)
        except Exception as problem:
            self.journal.note("A layer could not be noted (%s)." % type(problem).__name__)

    def created(self, layer: Any, frame: Optional[FrameType]) -> None:
        """A layer has come into being in the code of a frame."""
        self.count += 1
        number, identity = self.count, id(layer)

        def forget(_: Any) -> None:
            if self.numbers.get(identity, (0, None))[0] == number:
                del self.numbers[identity]

        try:
            self.numbers[identity] = number, weakref.ref(layer, forget)
        except TypeError:
            return
        place = self._creation_place(layer, frame)
        self.places[number] = place
        kind = type(layer)
        self.journal.add("layer", [number, kind.__name__, place])

    def _creation_place(self, made: Any, frame: Optional[FrameType]) -> Optional[frames.Place]:
        """The program's line, or that of the layer of a library that makes others for itself.

        `MultiHeadAttention` makes its dense layers when it is first called: its own line is theirs, not that of `fit`.
        A copy is where its original is: `Bidirectional` runs two copies of the layer it is given.
        """
        kind = type(made)
        at = frame
        for _ in range(8):
            if at is None or frames.is_written_here(at.f_code.co_filename):
                break
            values = at.f_locals
            original = values.get("layer")
            if original is not None and type(original) is kind and original is not made:
                known = self.numbers.get(id(original))
                if known is not None and self.places.get(known[0]) is not None:
                    return self.places[known[0]]
            owner = values.get("self")
            known = self.numbers.get(id(owner)) if owner is not None else None
            if known is not None and self.places.get(known[0]) is not None and at.f_code.co_name != "__new__":
                return self.places[known[0]]
            at = at.f_back
        return frames.own_place(frame)

    def number(self, layer: Any) -> int:
        """The number of a layer; one that was not seen to be created gets one without a place."""
        known = self.numbers.get(id(layer))
        if known is None:
            self.created(layer, None)
            known = self.numbers.get(id(layer), (0, None))
        return known[0]

    # Calls

    def enter(self, layer: Any) -> int:
        """This thread begins to call a layer; gives its number."""
        stack = self.stack()
        number = self.number(layer)
        if number not in self.names:
            self.names[number] = name_of(layer).replace("/", "\u2215")
        stack.append(number)
        where = tuple(stack)
        if where not in self.seen and len(self.seen) < STACKS:
            self.seen.add(where)
            self._name(number, where)
        return number

    def _name(self, number: int, stack: Tuple[int, ...]) -> None:
        """A layer's path is the longest by which it was called: models under construction call layers by themselves."""
        # A layer that builds itself while it is called opens its scope twice.
        within = [one for index, one in enumerate(stack) if not index or stack[index - 1] != one]
        path = "/".join([self.names[one] for one in within])
        known = self.paths.get(number)
        if known is None or path.count("/") > known.count("/"):
            self.paths[number] = path
            self.journal.add("path", [number, path, within])

    def leave(self) -> None:
        """The innermost call on this thread ends."""
        stack = self.stack()
        if stack:
            stack.pop()

    # Extending what others have written

    def extend_keras(self, module: ModuleType) -> None:
        """Keras 3: `Layer.__new__` and the scope that each call opens."""
        kind = getattr(module, "Layer", None)
        if kind is None or not hasattr(kind, "_open_name_scope"):
            self.journal.note("This version of Keras is not known: layers are not distinguished.")
            return
        self.keras += (kind,)
        plain_new, plain_scope = kind.__new__, kind._open_name_scope
        layers = self

        def __new__(cls: type, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            layer = plain_new(cls, *args, **kwargs)
            layers.note_created(layer, sys._getframe(1))
            return layer

        def _open_name_scope(layer: Any) -> Any:
            return Scope(layers, layer, plain_scope(layer))

        hide(_open_name_scope, plain_scope)
        __new__.__code__ = __new__.__code__.replace(co_filename=module.__file__ or "")
        kind.__new__ = __new__
        kind._open_name_scope = _open_name_scope

    def extend_keras_2(self, module: ModuleType) -> None:
        """Keras 2: the constructor, and the call itself."""
        kind = getattr(module, "Layer", None)
        if kind is None:
            return
        self.keras += (kind,)
        self._extend_new(kind)
        plain = kind.__call__
        layers = self

        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            with Scope(layers, self, None):
                outputs = plain(self, *args, **kwargs)
                return outputs  # noqa: RET504 - the scope looks at it by this name, as in Keras 3

        hide(__call__, plain)
        kind.__call__ = __call__

    def extend_modules(self, module: ModuleType) -> None:
        """`tf.Module`: where each is created. Which one runs is seen when an operation is made."""
        self.module = getattr(module, "Module", None)
        if self.module is not None:
            self._extend_new(self.module)

    def _extend_new(self, kind: type) -> None:
        """Note creations of a class without taking a constructor of its own away."""
        plain: Any = kind.__new__
        layers = self

        def __new__(cls: type, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            made = plain(cls) if plain is object.__new__ else plain(cls, *args, **kwargs)
            if id(made) not in layers.numbers:
                layers.note_created(made, sys._getframe(1))
            return made

        kind.__new__ = __new__  # type: ignore[method-assign,assignment]


class Scope:
    """Stands for the name scope that Keras opens about each call of a layer."""

    def __init__(self, layers: Layers, layer: Any, scope: Any) -> None:
        self.layers = layers
        self.layer = layer
        self.scope = scope
        self.trace: Any = None
        self.number = 0

    def __enter__(self) -> Any:
        self.number = self.layers.enter(self.layer)
        self.layers.anchors().append(frames.Anchor(sys._getframe(1), self.layer))
        eager = self.layers.eager
        if eager is not None and eager.windows.ready:
            try:
                self.trace = eager.layer(self.layer, self.number, len(self.layers.stack()), sys._getframe(1))
            except Exception as problem:
                eager.windows.fail(problem)
        return None if self.scope is None else self.scope.__enter__()

    def __exit__(self, *problem: Any) -> Any:
        try:
            return None if self.scope is None else self.scope.__exit__(*problem)
        finally:
            try:
                if self.trace is not None:
                    self.layers.eager.outputs(self.number, sys._getframe(1))
                    self.trace(*problem)
            except Exception as own:
                self.layers.eager.windows.fail(own)
            self.layers.anchors().pop()
            self.layers.leave()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.scope, name)


def name_of(layer: Any) -> str:
    """A layer's name; its class where it has none: a name may be the program's own property, and fail."""
    try:
        return str(layer.name)
    except Exception:
        return type(layer).__name__
