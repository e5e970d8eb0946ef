"""The file that everything noted inside a program goes into; a crash costs its last lines alone."""

from __future__ import annotations

import json
import os
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, List, Set

LIMIT = 64 << 20
"""Bytes: a program that builds graphs without end fills no disk."""


class Journal:
    """Records of one process, kept until they are written."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.process = os.getpid()
        self.records: List[Any] = []
        self.notes: Set[str] = set()
        self.written = 0
        self.lock = threading.Lock()

    def add(self, kind: str, content: Any) -> None:
        """Keep one record; `content` is made into text when it is written."""
        self.records.append([kind, content])

    def note(self, sentence: str) -> None:
        """Something that a reader of the figures should know, once."""
        if sentence not in self.notes:
            self.notes.add(sentence)
            self.add("note", sentence)

    def write(self) -> None:
        """Append what was added since the last time."""
        with self.lock:
            if os.getpid() != self.process:
                return
            count = len(self.records)
            records = self.records[:count]
            del self.records[:count]
            if not records or self.written > LIMIT:
                return
            text = "".join(
                [json.dumps(record, separators=(",", ":"), default=str) + "\n" for record in records]
            )
            self.written += len(text)
            path = os.path.join(self.folder, "inside-%d.jsonl" % self.process)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                os.write(descriptor, text.encode("utf-8", "backslashreplace"))
            finally:
                os.close(descriptor)

    def abandon(self) -> None:
        """In a forked child: these records are the parent's."""
        self.lock = threading.Lock()
        self.records = []
