"""A campaign under fire: a scheduler, workers on simulated hosts and a client, any of which is killed at random.

The programs stand in for TensorFlow with a module of their own, so that a measurement takes a second or two: what is tested
is who runs when, not what it costs. Each program holds a lock of its host while it runs, and leaves a mark when somebody
else holds it.
"""

from __future__ import annotations

import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

STUB = """
import time
__version__ = "2.0"
def constant(value):
    end = time.process_time() + 0.05
    while time.process_time() < end:
        pass
    return value
"""
PROGRAM = """
import fcntl, os
import tensorflow as tf
host = os.environ["ENERGY_LSP_LOCK_FOLDER"]
held = open(os.path.join(host, "running"), "w")
try:
    fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    open(os.path.join(host, "overlapped"), "a").write("x")
for _ in range({calls}):
    tf.constant(1)
"""
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM)
KINDS = ("measurement", "program", "worker", "scheduler", "client")


def write_projects(folder: Path, count: int, calls: int = 12) -> list[Path]:
    """Small projects whose programs tell when they overlap."""
    made = []
    for number in range(count):
        project = folder / f"project{number}"
        project.mkdir(parents=True)
        (project / "tensorflow.py").write_text(STUB)
        (project / "main.py").write_text(PROGRAM.format(calls=calls))
        made.append(project)
    return made


def write_plan(folder: Path, projects: Sequence[Path], *, repeat: int, **settings: str) -> Path:
    """A plan for them."""
    lines = ["[campaign]", f"repeat = {repeat}", "quick = true", *(f"{k} = {v}" for k, v in settings.items())]
    for project in projects:
        lines += ["[[project]]", f'path = "{project.relative_to(folder)}"', 'entry = "main.py"']
    plan = folder / "plan.toml"
    plan.write_text("\n".join(lines) + "\n")
    return plan


@dataclass
class Cluster:
    """A scheduler, workers on simulated hosts, and a client; each is started again when it is found dead."""

    folder: Path
    plan: Path
    hosts: Sequence[str]
    """One name per worker; workers with the same name are on the same host."""
    chance: random.Random
    kills: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        with closing(socket.socket()) as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.mark = f"{os.getpid()}-{self.port}"
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.workers: dict[int, subprocess.Popen[bytes]] = {}
        self.client: subprocess.Popen[bytes] | None = None
        (self.folder / "log").mkdir()

    def environment(self, host: str = "") -> dict[str, str]:
        """What everything that belongs to this cluster carries, so that nothing of it can hide."""
        lock = self.folder / "hosts" / (host or "client")
        lock.mkdir(parents=True, exist_ok=True)
        return {
            **os.environ,
            "CHAOS": self.mark,
            "ENERGY_LSP_LOCK_FOLDER": str(lock),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            "TMPDIR": str(self.folder),
            "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s",
        }

    def keep_up(self) -> None:
        """Start what is not there."""
        if self.scheduler is None or self.scheduler.poll() is not None:
            command = [
                "-m",
                "distributed.cli.dask_scheduler",
                "--host",
                "127.0.0.1",
                "--port",
                str(self.port),
            ]
            self.scheduler = self._start("scheduler", [*command, "--no-dashboard"], self.environment())
        for number, host in enumerate(self.hosts):
            if number not in self.workers or self.workers[number].poll() is not None:
                command = ["-m", "distributed.cli.dask_worker", self.address, "--resources", "energy=1"]
                command += ["--nthreads", "2", "--no-dashboard", "--death-timeout", "10"]
                command += ["--local-directory", str(self.folder / "dask")]
                self.workers[number] = self._start(f"worker{number}", command, self.environment(host))

    def start_client(self) -> None:
        """The campaign's own command."""
        command = ["-m", "energy_lsp", "campaign", str(self.plan), "--scheduler", self.address]
        self.client = self._start("client", command, self.environment())

    def _start(
        self, name: str, command: Sequence[str], environment: Mapping[str, str]
    ) -> subprocess.Popen[bytes]:
        with (self.folder / "log" / name).open("ab") as log:
            return subprocess.Popen(
                [sys.executable, *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=dict(environment),
                start_new_session=True,
            )

    def run(self, kills: int, *, pause: tuple[float, float] = (0.5, 4.0), deadline: float = 240.0) -> int:
        """Until the campaign is done and all kills were made; the exit status of its last client."""
        end = time.monotonic() + deadline
        self.keep_up()
        if self.client is None:
            self.start_client()
        next_kill = time.monotonic() + self.chance.uniform(*pause) + 2.0
        while time.monotonic() < end:
            time.sleep(0.05)
            assert self.client is not None
            status = self.client.poll()
            if status == 0:
                return 0
            if status is not None:
                self.start_client()
            self.keep_up()
            due = len(self.kills) < kills and time.monotonic() >= next_kill
            if due and self.kill(self.chance.choice(KINDS)):
                next_kill = time.monotonic() + self.chance.uniform(*pause)
        return -1

    def kill(self, kind: str) -> bool:
        """End one process of a kind, mostly by SIGKILL, else as an administrator would; False if there is none just now."""
        victims = list(self.of_kind(kind))
        if not victims:
            return False
        with suppress(psutil.NoSuchProcess):
            self.chance.choice(victims).send_signal(self.chance.choice(SIGNALS))
            self.kills.append(kind)
            return True
        return False

    def of_kind(self, kind: str) -> Iterator[psutil.Process]:
        """The processes of this cluster that are such."""
        if kind == "scheduler" and self.scheduler is not None:
            yield psutil.Process(self.scheduler.pid)
        elif kind == "client" and self.client is not None and self.client.poll() is None:
            yield psutil.Process(self.client.pid)
        else:
            words = {
                "measurement": "campaign.attempt",
                "program": "specification.json",
                "worker": "dask_worker",
            }
            for process in self.left():
                with suppress(psutil.Error):
                    line = " ".join(process.cmdline())
                    nanny_child = kind == "worker" and "spawn_main" in line
                    if words.get(kind, "?") in line or nanny_child:
                        yield process

    def left(self) -> Iterator[psutil.Process]:
        """Every process that carries this cluster's mark."""
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if process.status() != psutil.STATUS_ZOMBIE and process.environ().get("CHAOS") == self.mark:
                    yield process

    def stop(self) -> list[str]:
        """End scheduler and workers as a person would; what is left running after that, which should be nothing."""
        started = [self.client, *self.workers.values(), self.scheduler]
        for process in started:
            if process is not None and process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in started:
            if process is not None:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(20)
        until = time.monotonic() + 10
        while (left := list(self.left())) and time.monotonic() < until:
            time.sleep(0.2)
        told = []
        for process in left:
            with suppress(psutil.Error):
                told.append(" ".join(process.cmdline()))
                process.kill()
        return told

    def overlaps(self) -> list[str]:
        """Hosts on which two programs ran at once."""
        return [path.parent.name for path in (self.folder / "hosts").glob("*/overlapped")]


def runs_by_project(database: Path) -> dict[str, int]:
    """How many runs of each project a merged database holds."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        rows = connection.execute("SELECT project, count(*) FROM runs GROUP BY project").fetchall()
    return {Path(project).name: count for project, count in rows}
