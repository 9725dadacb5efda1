"""The files of the session. The files themselves are `open` and `os`, below the directory's `path`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .host import lift


@dataclass(frozen=True)
class Directory:
    """A directory that the plugin may be handed."""

    path: str
    """Its path for `open` and `os`."""
    shown: str
    """The same as processes of this session see it."""
    exists: bool
    writable: bool


@dataclass(frozen=True)
class Usage:
    """How much a workspace holds."""

    bytes: int
    entries: int
    quota_bytes: int
    """Beyond, processes of the session are killed and calls that write end with `limit`."""


@dataclass(frozen=True)
class Workspace:
    """The directory of the session. Get it from `Call.workspace`. Without a grant, all is `denied`."""

    interface: Any

    def files(self) -> Directory:
        """The workspace as it is. Makes nothing."""
        return lift(Directory, self.interface.files())

    def create(self) -> Directory:
        """Makes the workspace where there is none. Call it before the first file is touched that is to be written."""
        return lift(Directory, self.interface.create())

    def exchange(self) -> dict[str, Directory]:
        """The folders for import and export that the operator named."""
        return {str(name): lift(Directory, directory) for name, directory in self.interface.exchange()}

    def measure(self) -> Usage:
        """Measures what the workspace holds now."""
        return lift(Usage, self.interface.measure())
