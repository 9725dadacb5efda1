"""Terminals that play from a script. A turn is complete as soon as it begins."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..errors import ToolError
from ..piece import Piece
from ..terminal_reports import Completion, Extent, Followed, Outcome, Screen, Started, TerminalInfo, Turn
from .world import Context, World, owned

NOW = "2026-01-01T00:00:00Z"


@dataclass(frozen=True)
class Script:
    """What an interactive program prints: at first, and as the answer to each input."""

    greeting: str = ""
    answers: dict[str, str] = field(default_factory=dict)
    """By the text that is typed; another one is answered with nothing."""


@dataclass
class TestTerminal:
    """A terminal."""

    __test__ = False

    owner: Any
    id: str
    command: str
    script: Script
    printed: bytearray
    turn: Turn | None = None
    closed: bool = False
    pressed: list[str] = field(default_factory=list)

    def info(self) -> TerminalInfo:
        """As it is now."""
        extent = Extent(len(self.printed), 0)
        ended, outcome = (NOW, Outcome("killed", None, None, "owner")) if self.closed else (None, None)
        status = "closed" if self.closed else "ready"
        return TerminalInfo(
            self.id, self.command, "", "repl", status, None, 80, 24, NOW, NOW, ended, outcome, 0, None,
            self.turn, extent, extent, False, False, None, None,
        )  # fmt: skip


@dataclass(frozen=True)
class TerminalInterface:
    """`terminal` of the contract."""

    context: Context
    world: World

    def status(self) -> str:
        return "{}"

    def start(self, program: str, arguments: list[str], launch: Any) -> Started:
        """`denied` for a program that the test did not give."""
        script = self.world.scripts.get(program)
        if script is None:
            raise ToolError.denied(f"the program `{program}` is not granted; to allow it, add it to `programs`")
        command = " ".join([program, *arguments])
        id = self.world.id("terminal")
        terminal = TestTerminal(self.context.owner, id, command, script, bytearray(script.greeting.encode()))
        self.world.terminals[id] = terminal
        return Started(terminal.info(), [])

    def start_shell(self, launch: Any) -> Started:
        """Starts what the test gave as `sh`."""
        return self.start("sh", [], launch)

    def list(self) -> Any:
        return [found.info() for found in self.world.terminals.values() if found.owner == self.context.owner]

    def get(self, id: str) -> TerminalInfo:
        return self._find(id).info()

    def send(self, id: str, input: Any, options: Any) -> Turn:
        terminal = self._open(id)
        start = len(terminal.printed)
        terminal.printed += terminal.script.answers.get(input.text, "").encode()
        number = 1 if terminal.turn is None else terminal.turn.number + 1
        complete = Completion("L2", "broad-prompt", "high", 1, 1, 0, 0, 0, None)
        terminal.turn = Turn(number, start, len(terminal.printed), complete, False, None)
        return terminal.turn

    def follow(self, id: str, turn: int, cursor: int, max_bytes: int, milliseconds: int) -> Followed:
        terminal = self._find(id)
        if terminal.turn is None or turn > terminal.turn.number or turn < 1:
            raise ToolError.not_found("this terminal had no such turn")
        if turn < terminal.turn.number:
            raise ToolError.gone("the terminal has begun another turn since")
        return Followed(self.read(id, "text", cursor, max_bytes, milliseconds), terminal.turn)

    def cancel(self, id: str, turn: int) -> None:
        self._find(id)

    def press(self, id: str, keys: Any) -> None:
        self._open(id).pressed += keys

    def screen(self, id: str, history_lines: int) -> Screen:
        lines = self._find(id).printed.decode("utf-8", "replace").splitlines()[-24:]
        padded = [*lines, *[""] * (24 - len(lines))]
        return Screen(80, 24, padded, 0, max(0, len(lines) - 1), True, False, [], None)

    def read(self, id: str, view: str, cursor: int, max_bytes: int, milliseconds: int) -> Piece:
        if view not in ("text", "raw"):
            raise ToolError.invalid("view: expected text or raw")
        printed = bytes(self._find(id).printed)
        data = printed[cursor : cursor + max_bytes]
        return Piece(cursor, cursor + len(data), 0, len(printed), data)

    def resize(self, id: str, columns: int, rows: int) -> None:
        self._open(id)

    def close(self, id: str, grace_milliseconds: int) -> TerminalInfo:
        terminal = self._find(id)
        terminal.closed = True
        return terminal.info()

    def _find(self, id: str) -> TestTerminal:
        found: TestTerminal = owned(self.world.terminals, id, self.context.owner, "terminal")
        return found

    def _open(self, id: str) -> TestTerminal:
        terminal = self._find(id)
        if terminal.closed:
            raise ToolError.gone("the program has ended")
        return terminal
