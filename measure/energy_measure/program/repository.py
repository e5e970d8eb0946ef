"""Where a measured project comes from: its repository, branch and commit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from energy_data.untrusted.git import ask_git

_SCP = re.compile(r"^(?:[\w.-]+@)?(?P<host>[\w.-]+):(?P<path>[^/].*)$")
"""`git@host:owner/name`, as people write it for SSH."""


@dataclass(frozen=True, slots=True)
class Repository:
    """What a repository says of itself; empty texts where there is none."""

    commit: str = ""
    url: str = ""
    owner: str = ""
    branch: str = ""
    """Empty where no branch is checked out."""
    commit_date: str = ""
    """ISO 8601."""


def repository_of(project: Path) -> Repository:
    """The repository that a project lies in, as it is now."""
    commit, _, date = ask_git(project, "log", "-1", "--format=%H %cI").partition(" ")
    if not commit:
        return Repository()
    url, owner = public_address(ask_git(project, "config", "--get", "remote.origin.url"))
    branch = ask_git(project, "symbolic-ref", "--short", "-q", "HEAD")
    return Repository(commit, url, owner, branch, date)


def public_address(remote: str) -> tuple[str, str]:
    """A remote's address without user names and passwords, and whose it is; nothing for a folder of this machine."""
    if match := _SCP.match(remote):
        remote = f"ssh://{match['host']}/{match['path']}"
    try:
        parts = urlsplit(remote)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "", ""
    if parts.scheme not in ("https", "http", "ssh", "git") or not host:
        return "", ""
    folders = [part for part in parts.path.split("/") if part]
    return urlunsplit((parts.scheme, host + port, parts.path, "", "")), folders[0] if len(folders) > 1 else ""
