"""Which frames of the stack are the program's own, and what the others say of what is going on."""

from __future__ import annotations

import os
import sys
import sysconfig

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any, Dict, Optional, Tuple

    Place = Tuple[str, int, str]
    """File, line and function."""

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
_roles: Dict[str, str] = {}
_mapped: Dict[Tuple[str, int], Optional[Place]] = {}


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


def role(filename: str) -> str:
    """`optimizer`, `loss` or `backward` for files that do these, else nothing."""
    known = _roles.get(filename)
    if known is None:
        known = ""
        if "keras" in filename or "tensorflow" in filename:
            known = next((name for part, name in ROLES if part in filename), "")
        _roles[filename] = known
    return known


def own_place(frame: Optional[FrameType]) -> Optional[Place]:
    """The nearest place of the program itself, from a frame outwards."""
    while frame is not None:
        name = frame.f_code.co_filename
        if is_own(name):
            return name, frame.f_lineno, frame.f_code.co_name
        if GENERATED in name:
            # TensorFlow's own stack takes long to make; a line of generated code always stands for the same one.
            key = (name, frame.f_lineno)
            if key not in _mapped:
                _mapped[key] = mapped_place()
            return _mapped[key] or own_place(frame.f_back)
        frame = frame.f_back
    return None


def mapped_place() -> Optional[Place]:
    """The same by TensorFlow's own stack, which knows what AutoGraph's generated code stands for."""
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
