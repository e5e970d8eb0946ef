"""Prints what a project of Poetry's requires as pip has it; run in an environment with poetry-core.

python poetry_requirements.py PROJECT
"""

import importlib
import sys
from pathlib import Path


def main() -> None:
    """Main dependencies, without those of extras."""
    factory = importlib.import_module("poetry.core.factory")
    package = factory.Factory().create_poetry(Path(sys.argv[1]), with_groups=False).package
    for dependency in package.requires:
        if not dependency.is_optional():
            print(dependency.to_pep_508())


if __name__ == "__main__":
    main()
