"""What all tests need."""

from __future__ import annotations

import os

import pytest

MEASURING = ("tensorflow", "editor")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that run whole programs on a machine that others use too get a second try, which the summary names: what
    passes only then is a fault of the test. All others have one try."""
    for item in items:
        if any(item.get_closest_marker(name) for name in MEASURING):
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(scope="session", autouse=True)
def no_terminal() -> None:
    """Output is as wide as in a pipe, whatever the terminal of whoever runs the tests says (xdist passes it on)."""
    os.environ.pop("COLUMNS", None)


@pytest.fixture(scope="session", autouse=True)
def known_watts() -> None:
    """Estimates are the same on every processor: some have published watts of their own."""
    os.environ.setdefault("ENERGY_LSP_ACTIVE_WATTS", "2.76")


@pytest.fixture(scope="session", autouse=True)
def own_host(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Tests that run side by side do not wait for each other's measurements: each process is a host of its own."""
    os.environ["ENERGY_LSP_LOCK_FOLDER"] = str(tmp_path_factory.mktemp("host"))
