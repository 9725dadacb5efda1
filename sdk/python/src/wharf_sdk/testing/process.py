"""Processes out of a test's own words: each has ended when it is first asked for."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..errors import ToolError
from ..piece import Piece
from ..process_reports import Outcome, Polled, ProcessInfo, StreamProgress, Waited
from .world import Context, World, owned

NOW = "2026-01-01T00:00:00Z"
MAXIMUM_READ_BYTES = 1_048_576


@dataclass(frozen=True)
class Program:
    """What a program does: it prints, may change files, and exits."""

    stdout: bytes = b""
    stderr: bytes = b""
    code: int = 0
    effect: Callable[[list[str]], None] | None = None
    """Called with the arguments when it is started."""


@dataclass
class TestProcess:
    """A started program."""

    __test__ = False

    owner: Any
    id: str
    command: str
    program: Program
    input_open: bool
    written: bytearray = field(default_factory=bytearray)

    def info(self) -> ProcessInfo:
        """It has ended by itself."""
        status = "finished" if self.program.code == 0 else "failed"
        outcome = Outcome("exited", self.program.code, None, None)
        stdout = StreamProgress(len(self.program.stdout), 0, False, False)
        stderr = StreamProgress(len(self.program.stderr), 0, False, False)
        return ProcessInfo(self.id, self.command, None, status, outcome, NOW, NOW, stdout, stderr, 0, None)

    def stream(self, name: str) -> bytes:
        """The bytes of a stream."""
        if name not in ("stdout", "stderr"):
            raise ToolError.invalid("stream: expected stdout or stderr")
        return self.program.stdout if name == "stdout" else self.program.stderr


@dataclass(frozen=True)
class ProcessInterface:
    """`process` of the contract."""

    context: Context
    world: World

    def status(self) -> str:
        return "{}"

    def spawn(self, program: str, arguments: list[str], launch: Any) -> str:
        """`denied` for a program that the test did not give."""
        if any("\0" in text for text in [program, *arguments]):
            raise ToolError.invalid("a program and its arguments have no zero bytes")
        return self._start(program, arguments, " ".join([program, *arguments]), launch)

    def spawn_shell(self, command: str, launch: Any) -> str:
        """Runs the program that the test gave as `sh`."""
        return self._start("sh", ["-c", command], command, launch)

    def _start(self, name: str, arguments: list[str], command: str, launch: Any) -> str:
        program = self.world.programs.get(name)
        if program is None:
            raise ToolError.denied(f"the program `{name}` is not granted; to allow it, add it to `programs`")
        if program.effect is not None:
            program.effect(arguments)
        id = self.world.id("process")
        self.world.processes[id] = TestProcess(self.context.session, id, command[:1_024], program, launch.input)
        return id

    def list(self) -> Any:
        return [found.info() for found in self.world.processes.values() if found.owner == self.context.session]

    def poll(self, id: str, lines: int, max_bytes: int) -> Polled:
        return Polled(
            self._find(id).info(),
            self.tail(id, "stdout", lines, max_bytes),
            self.tail(id, "stderr", lines, max_bytes),
            None,
        )

    def wait(self, id: str, condition: Any, milliseconds: int) -> Waited:
        process = self._find(id)
        if condition.pattern is not None:
            position, pattern = condition.pattern
            data = process.stream(position.stream)[position.cursor :]
            match = re.search(pattern.encode(), data, re.MULTILINE)
            if match is not None:
                found = (position.cursor + match.start(), position.cursor + match.end())
                return Waited("pattern", found, process.info(), None)
        if condition.output is not None and len(process.stream(condition.output.stream)) > condition.output.cursor:
            return Waited("output", None, process.info(), None)
        return Waited("exit", None, process.info(), None)

    def read(self, id: str, start: Any, max_bytes: int) -> Piece:
        data = self._find(id).stream(start.stream)
        piece = data[start.cursor : start.cursor + min(max_bytes, MAXIMUM_READ_BYTES)]
        return Piece(start.cursor, start.cursor + len(piece), 0, len(data), piece)

    def head(self, id: str, stream: str, lines: int, max_bytes: int) -> Piece:
        data = self._find(id).stream(stream)
        piece = b"".join(data.splitlines(keepends=True)[:lines])[:max_bytes]
        return Piece(0, len(piece), 0, len(data), piece)

    def tail(self, id: str, stream: str, lines: int, max_bytes: int) -> Piece:
        data = self._find(id).stream(stream)
        whole = b"".join(data.splitlines(keepends=True)[-lines:]) if lines else b""
        piece = whole[max(0, len(whole) - max_bytes) :]
        return Piece(len(data) - len(piece), len(data), 0, len(data), piece)

    def write(self, id: str, data: bytes, milliseconds: int) -> int:
        process = self._find(id)
        if not process.input_open:
            raise ToolError.gone("the standard input is closed")
        process.written += data
        return len(data)

    def close_input(self, id: str) -> None:
        self._find(id).input_open = False

    def signal(self, id: str, signal: str) -> None:
        self._find(id)
        raise ToolError.gone("the process has ended")

    def stop(self, id: str, grace_milliseconds: int) -> ProcessInfo:
        return self._find(id).info()

    def _find(self, id: str) -> TestProcess:
        found: TestProcess = owned(self.world.processes, id, self.context.session, "process")
        return found
