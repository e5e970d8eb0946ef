"""Say in one sentence when the interpreter that `make` found cannot carry the project."""

import sys

if not (3, 10) <= sys.version_info[:2] <= (3, 13):
    found = ".".join(map(str, sys.version_info[:3]))
    sys.exit(
        f"energy-lsp needs Python 3.10 to 3.13 and found {found}.\n"
        "Name another one, for example: make test PYTHON=python3.12"
    )
try:
    import ensurepip  # noqa: F401
    import venv  # noqa: F401
except ImportError:
    sys.exit("This Python has no venv module. On Debian: apt-get install python3-venv")
