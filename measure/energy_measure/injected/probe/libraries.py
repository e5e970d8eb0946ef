"""What only the libraries of the program can tell: versions, devices, and when a result is there (Python 3.8 to 3.13)."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Optional, Tuple


def gpu_synchronisation() -> Tuple[Optional[Callable[[], object]], bool]:
    """TensorFlow's own way to wait for the GPU where it sees one, and whether to look again next time."""
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is None:
        return None, True
    try:
        if tensorflow.config.list_physical_devices("GPU"):
            return tensorflow.test.experimental.sync_devices, False
    except Exception:
        return None, False  # too old for it, or not TensorFlow at all
    return None, False


def waiting() -> Optional[Callable[[Any], object]]:
    """What waits until a result is there, for libraries whose calls return before their work is done."""
    jax = sys.modules.get("jax")
    if hasattr(jax, "block_until_ready"):
        block = jax.block_until_ready  # type: ignore[union-attr]

        def wait_for(result: Any) -> None:
            try:
                block(result)
            except Exception:
                return  # a value that stands for others while a function is traced; or one that was given away

        return wait_for
    torch = sys.modules.get("torch")
    try:
        if torch is not None and torch.cuda.is_available():
            return lambda result: torch.cuda.synchronize()
    except Exception:
        return None  # half loaded
    return None


def is_tracer(result: Any) -> bool:
    """Whether a result stands for others while JAX traces a function."""
    return type(result).__name__.endswith("Tracer") and "jax" in sys.modules


def versions(with_device: bool = False) -> Dict[str, str]:
    """Versions and settings that decide what a call does; `with_device`: at the end, as asking may set a library up."""
    found = {"python": sys.version.split()[0]}
    for name in ("tensorflow", "keras"):
        found[name] = version(name)
    keras: Any = sys.modules.get("keras") or sys.modules.get("tf_keras")
    found["backend"] = backend = answer_of(lambda: keras.backend.backend()) or (
        "tensorflow" if found["tensorflow"] else ""
    )
    if backend:
        found["backend_version"] = version(backend)
        found["precision"] = answer_of(lambda: keras.config.dtype_policy().name) or answer_of(
            lambda: keras.mixed_precision.global_policy().name
        )
    if backend and with_device:
        library: Any = sys.modules.get(backend)
        found["device"] = {
            "tensorflow": lambda: (
                answer_of(lambda: library.config.list_physical_devices("GPU") and "gpu") or "cpu"
            ),
            "jax": lambda: answer_of(lambda: library.default_backend()),
            "torch": lambda: answer_of(lambda: library.cuda.is_available() and "gpu") or "cpu",
        }.get(backend, str)()
    return found


def version(name: str) -> str:
    """Of a library that the program has loaded."""
    return str(getattr(sys.modules.get(name), "__version__", ""))


def answer_of(ask: Callable[[], Any]) -> str:
    """What a library says, where it has the function that is asked."""
    try:
        return str(ask() or "")
    except Exception:
        return ""
