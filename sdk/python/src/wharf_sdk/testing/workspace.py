"""A real directory as the workspace."""

from __future__ import annotations

import os
from dataclasses import dataclass

from ..errors import ToolError
from ..workspace import Directory, Usage
from .world import World


@dataclass(frozen=True)
class WorkspaceInterface:
    """`workspace` of the contract."""

    world: World

    def files(self) -> Directory:
        """The directory that the test gave."""
        if self.world.directory is None:
            raise ToolError.denied("the test gave no directory: TestHost.workspace(…)")
        return Directory(self.world.directory, self.world.directory, os.path.isdir(self.world.directory), True)

    def create(self) -> Directory:
        os.makedirs(self.files().path, exist_ok=True)
        return self.files()

    def exchange(self) -> list[tuple[str, Directory]]:
        self.files()
        return []

    def measure(self) -> Usage:
        paths = [os.path.join(folder, name) for folder, _, names in os.walk(self.files().path) for name in names]
        return Usage(sum(map(os.path.getsize, paths)), len(paths), 1_073_741_824)
