"""Which frames of the stack are the program's own, and what the others say of what is going on."""

from __future__ import annotations

import os
import sys
import sysconfig
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any, Dict, List, Optional, Tuple

    Place = Tuple[str, int, str]
    """File, line and function."""
    Walked = Tuple[str, int, List[Any]]
    """What the frames of a stack say: role, index of the program's own place, modules whose methods run."""

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GENERATED = "__autograph_generated_file"
LIBRARY_FOLDERS = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)
_paths = sysconfig.get_paths()
STANDARD_LIBRARY = tuple(
    {os.path.join(_paths[name], "") for name in ("stdlib", "platstdlib")} | {os.path.join(HERE, "")}
)
ROLES = (
    (os.sep + "optimizers" + os.sep, "optimizer"),
    (os.sep + "losses" + os.sep, "loss"),
    (os.sep + "metrics" + os.sep, "loss"),
    ("compile_utils.py", "loss"),
    (os.sep + os.path.join("eager", "backprop.py"), "backward"),
    (os.sep + "trainers" + os.sep, "step"),
    (os.sep + os.path.join("tensorflow", "trainer.py"), "step"),
    (os.sep + os.path.join("engine", "training.py"), "step"),
    (os.sep + os.path.join("engine", "data_adapter.py"), "step"),
    (os.sep + "gradients_util.py", "backward"),
)
"""Parts of Keras and TensorFlow whose operations are no layer's, by the file of a frame."""

_own: Dict[str, bool] = {}
written_here: Dict[str, bool] = {}
"""What `is_written_here` has said; stacks are long and walked often, so that they are looked up without calling it."""
_roles: Dict[str, str] = {}
_mapped: Dict[Tuple[str, int], Optional[Place]] = {}
_sources: Dict[str, str] = {}


class Anchor:
    """A frame that stays where it is while many operations are made under it: the way outwards from it is gone once."""

    __slots__ = ("frame", "layer", "place", "walked")

    def __init__(self, frame: Optional[FrameType], layer: Any = None) -> None:
        self.layer = layer
        self.frame = id(
            frame
        )  # the frame runs for as long as the anchor is used: no other can have its identity
        self.place: Optional[int] = None
        self.walked: Optional[Walked] = None


def is_own(filename: str) -> bool:
    """Whether a file is the program's: no library, no standard library, not generated. Cells of notebooks are."""
    known = _own.get(filename)
    if known is None:
        if filename.startswith("<"):
            known = " cell " in filename
        else:
            full = os.path.abspath(filename)
            known = (
                not any(part in full for part in LIBRARY_FOLDERS)
                and not full.startswith(STANDARD_LIBRARY)
                and GENERATED not in full
            )
        _own[filename] = known
    return known


def is_written_here(filename: str) -> bool:
    """Whether code is the program's own, or was generated from its own by AutoGraph."""
    if GENERATED in filename:
        source = source_of(filename)
        if not source:
            return True  # not known yet
        known = is_own(source)
    else:
        known = is_own(filename)
    written_here[filename] = known
    return known


def role(filename: str) -> str:
    """`optimizer`, `loss` or `backward` for files that do these, else nothing."""
    known = _roles.get(filename)
    if known is None:
        known, source = "", source_of(filename) if GENERATED in filename else filename
        if "keras" in source or "tensorflow" in source:
            known = next((name for part, name in ROLES if part in source), "")
        _roles[filename] = known
    return known


def source_of(filename: str) -> str:
    """The file that a file of AutoGraph's was generated from; empty where that cannot be known."""
    known = _sources.get(filename, "")
    if not known:
        for (generated, _), (source, *_) in generated_lines().items():
            if generated == filename and source != filename:
                known = _sources[filename] = source
                break
    return known


def generated_lines() -> Dict[Tuple[str, int], Place]:
    """What the lines stand for that AutoGraph has generated of the functions that this thread is in."""
    stack = sys.modules.get("tensorflow.python.util.tf_stack")
    mappers = getattr(stack, "_source_mapper_stacks", None)
    if not mappers:
        return {}
    try:
        found: Dict[Tuple[str, int], Place] = mappers[threading.get_ident()][-1].get_effective_source_map()
    except Exception:  # another version of TensorFlow has another stack
        return {}
    return found


def own_place(frame: Optional[FrameType]) -> Optional[Place]:
    """The nearest place of the program itself, from a frame outwards."""
    while frame is not None:
        name = frame.f_code.co_filename
        if GENERATED not in name:
            if is_own(name):
                return name, frame.f_lineno, frame.f_code.co_name
        elif is_written_here(name):
            # A line of generated code always stands for the same one.
            key = (name, frame.f_lineno)
            if key not in _mapped:
                found = generated_lines().get(key)
                _mapped[key] = tuple(found) if found is not None else mapped_place()  # type: ignore[assignment]
            place = _mapped[key]
            if place is not None:
                return place
        frame = frame.f_back
    return None


def mapped_place() -> Optional[Place]:
    """The same by TensorFlow's own stack, for lines that AutoGraph has put in."""
    stack = sys.modules.get("tensorflow.python.util.tf_stack")
    if stack is None:
        return None
    return last_own(stack.extract_stack())


def last_own(frames: Any) -> Optional[Place]:
    """The innermost of TensorFlow's frames, outermost first, that is the program's own."""
    for frame in reversed(list(frames)):
        if is_own(frame.filename):
            return frame.filename, frame.lineno, frame.name
    return None
