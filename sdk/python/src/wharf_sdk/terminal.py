"""Interactive programs of the session in terminals. A turn is an input and the program's answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from .errors import ToolError
from .host import lift
from .lower import U16, bounded
from .piece import Piece
from .shapes import Json, read_json
from .terminal_reports import Followed, Screen, Started, TerminalInfo, Turn


@dataclass(frozen=True)
class Launch:
    """How a program is started."""

    directory: str = ""
    """A path of the workspace, which must exist; empty for the workspace itself."""
    environment: dict[str, str] = field(default_factory=dict)
    """Variables that the grant lists."""
    columns: int = 0
    """1 to 500; 0 for 80."""
    rows: int = 0
    """1 to 200; 0 for 24."""
    preset: str | None = None
    """How long silence lasts before a turn ends: `shell`, `repl`, `agent`, `build` and others."""
    restart: Literal["never", "on-crash"] | None = None


@dataclass(frozen=True)
class TurnOptions:
    """When a turn counts as complete. What is left out is as the preset says."""

    preset: str | None = None
    prompts: list[str] = field(default_factory=list)
    """At most 16 regular expressions of the row at which the program waits."""
    inactivity_milliseconds: int | None = None
    time_limit_milliseconds: int | None = None
    options: str | None = None
    """The text of a JSON object with `parameters`."""


@dataclass(frozen=True)
class RawInput:
    """`terminal.input` of the contract."""

    text: str
    submit: bool
    keys: list[str]


@dataclass(frozen=True)
class RawLaunch:
    """`terminal.launch` of the contract."""

    directory: str
    environment: list[tuple[str, str]]
    columns: int
    rows: int
    preset: str | None
    options: str | None


@dataclass(frozen=True)
class Terminals:
    """Starts programs and types to them. Get it from `Call.terminals`.

    Every function may fail with `denied`, naming the line of configuration;
    `not-found` where there is no such terminal of this owner; `unavailable`.
    """

    interface: Any

    def status(self) -> dict[str, Json]:
        """What holds for the terminals of this plugin here, as the contract's `terminal.status`."""
        status = read_json(self.interface.status(), "the status")
        return status if isinstance(status, dict) else {}

    def start(self, program: str, arguments: Sequence[str] = (), launch: Launch | None = None) -> Started:
        """Starts a program without a shell. `limit` where all terminals are in use; `invalid` where it cannot run."""
        return lift(Started, self.interface.start(program, list(arguments), _raw_launch(launch)))

    def start_shell(self, launch: Launch | None = None) -> Started:
        """Starts the system's shell, whose turns end with exit codes. `denied` where no shell is granted."""
        return lift(Started, self.interface.start_shell(_raw_launch(launch)))

    def all(self) -> list[TerminalInfo]:
        """All terminals of this owner."""
        return [lift(TerminalInfo, info) for info in self.interface.list()]

    def get(self, id: str) -> TerminalInfo:
        """One terminal."""
        return lift(TerminalInfo, self.interface.get(id))

    def submit(self, id: str, text: str, options: TurnOptions | None = None) -> Turn:
        """Types a text and Enter, and begins a turn. Returns at once; `follow` waits.

        Errors: `conflict` while another turn runs; `denied` for what the operator
        refuses; `limit` and `invalid` for the text; `gone` after the program's end.
        """
        return self._send(id, RawInput(text, True, []), options)

    def type(self, id: str, text: str, options: TurnOptions | None = None) -> Turn:
        """The same without Enter."""
        return self._send(id, RawInput(text, False, []), options)

    def send_keys(self, id: str, keys: Sequence[str], options: TurnOptions | None = None) -> Turn:
        """The same with keys by name, such as `Enter` or `C-c`, at most 1,000."""
        return self._send(id, RawInput("", False, list(keys)), options)

    def _send(self, id: str, input: RawInput, options: TurnOptions | None) -> Turn:
        return lift(Turn, self.interface.send(id, input, options or TurnOptions()))

    def follow(self, id: str, turn: int, cursor: int, milliseconds: int, max_bytes: int = 65_536) -> Followed:
        """The next piece of a turn's text: from its `start` at first, then from the last piece's `next`.

        Returns once something came, the turn ended or the time is over. `gone` where
        the terminal has begun another turn since.
        """
        return lift(Followed, self.interface.follow(id, turn, cursor, bounded("max_bytes", max_bytes), milliseconds))

    def answer(self, id: str, turn: Turn, milliseconds: int, maximum_bytes: int = 262_144) -> tuple[str, Turn]:
        """The text of a turn up to its end, the time or the size, whichever comes first; and the turn then.

        `turn.end` is none where the turn goes on: a later call may follow it.
        """
        text = bytearray()
        cursor, current = turn.start, turn
        # Each round brings text or the end; one that brings neither has used up the time.
        while len(text) < maximum_bytes:
            followed = self.follow(id, turn.number, cursor, milliseconds)
            current, cursor = followed.turn, followed.piece.next
            text += followed.piece.data
            if not followed.piece.data or (current.end is not None and cursor >= current.end):
                break
        return bytes(text[:maximum_bytes]).decode("utf-8", "replace"), current

    def cancel(self, id: str, turn: int) -> None:
        """Ends a turn, so that the next one may begin. The program is sent nothing."""
        self.interface.cancel(id, turn)

    def press(self, id: str, keys: Sequence[str]) -> None:
        """Presses keys, also while a turn runs. `invalid` where a name is none."""
        self.interface.press(id, list(keys))

    def screen(self, id: str, history_lines: int = 0) -> Screen:
        """What a person would see now."""
        return lift(Screen, self.interface.screen(id, bounded("history_lines", history_lines)))

    def read(
        self, id: str, view: Literal["text", "raw"], cursor: int, milliseconds: int = 0, max_bytes: int = 65_536
    ) -> Piece:
        """A piece of a view from a cursor on; waits for something where nothing is there yet."""
        return lift(Piece, self.interface.read(id, view, cursor, bounded("max_bytes", max_bytes), milliseconds))

    def resize(self, id: str, columns: int, rows: int) -> None:
        """Changes the size: 1 to 500 columns, 1 to 200 rows."""
        if not (1 <= columns <= 500 and 1 <= rows <= 200):
            raise ToolError.invalid("a terminal has 1 to 500 columns and 1 to 200 rows")
        self.interface.resize(id, columns, rows)

    def close(self, id: str, grace_milliseconds: int = 2_000) -> TerminalInfo:
        """Ends the program and everything that descends from it."""
        return lift(TerminalInfo, self.interface.close(id, grace_milliseconds))


def _raw_launch(launch: Launch | None) -> RawLaunch:
    asked = launch or Launch()
    options = f'{{"restart":"{asked.restart}"}}' if asked.restart else None
    environment = list(asked.environment.items())
    columns, rows = bounded("columns", asked.columns, U16), bounded("rows", asked.rows, U16)
    return RawLaunch(asked.directory, environment, columns, rows, asked.preset, options)
