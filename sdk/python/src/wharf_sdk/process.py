"""Child processes of the session, which outlive the call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from .host import lift
from .lower import bounded
from .piece import Piece
from .process_reports import Polled, Position, ProcessInfo, StreamName, Waited
from .shapes import Json, read_json

MAXIMUM_READ_BYTES = 1_048_576
"""How much one read returns at most."""

Signal = Literal["hangup", "interrupt", "quit", "terminate", "kill", "user1", "user2", "stop", "continue"]


@dataclass(frozen=True)
class Launch:
    """How a process is started."""

    directory: str = ""
    """A path of the workspace, which must exist; empty for the workspace itself."""
    environment: dict[str, str] = field(default_factory=dict)
    """Variables that the grant lists, in addition to those of the host."""
    input: bool = False
    """Whether `write` writes to its standard input; otherwise it reads the end at once."""
    lifetime_milliseconds: int | None = None
    """After this it is killed."""
    silence_milliseconds: int | None = None
    """After so long without output it is killed."""


@dataclass(frozen=True)
class Condition:
    """What to wait for: whichever comes first. The end of the process and of its streams always ends a wait."""

    output: Position | None = None
    """Output behind this place."""
    pattern: tuple[Position, str] | None = None
    """A line, from this place on, that matches (syntax of the Rust crate `regex`, at most 1,024 bytes)."""
    exit: bool = False
    """The end of the process, even where another one still holds its streams."""
    idle_milliseconds: int | None = None
    """So long without output."""


@dataclass(frozen=True)
class Processes:
    """Starts and follows processes. Get it from `Call.processes`.

    Every function may fail with `denied`, naming the line of configuration;
    `not-found` where there is no such process of this owner; `unavailable`.
    """

    interface: Any

    def status(self) -> dict[str, Json]:
        """What holds for the processes of this plugin here, as the contract's `process.status`."""
        status = read_json(self.interface.status(), "the status")
        return status if isinstance(status, dict) else {}

    def spawn(self, program: str, arguments: Sequence[str] = (), launch: Launch | None = None) -> str:
        """Starts a program without a shell, and returns its id once it runs.

        Errors: `limit` where as many run as may; `invalid` where it cannot be run.
        """
        return str(self.interface.spawn(program, list(arguments), _raw_launch(launch)))

    def spawn_shell(self, command: str, launch: Launch | None = None) -> str:
        """Hands a text to the system's shell. `denied` where no shell is granted."""
        return str(self.interface.spawn_shell(command, _raw_launch(launch)))

    def all(self) -> list[ProcessInfo]:
        """All processes of this owner, in the order in which they were started."""
        return [lift(ProcessInfo, info) for info in self.interface.list()]

    def poll(self, id: str, lines: int = 20, max_bytes: int = 16_384) -> Polled:
        """How a process does, with the last lines of each stream. The host counts polls: prefer `wait`."""
        return lift(Polled, self.interface.poll(id, bounded("lines", lines), bounded("max_bytes", max_bytes)))

    def wait(self, id: str, condition: Condition, milliseconds: int) -> Waited:
        """Waits until something of `condition` happens. `time-up` after the time, or shortly before the call ends."""
        return lift(Waited, self.interface.wait(id, condition, milliseconds))

    def wait_for_exit(self, id: str, milliseconds: int) -> Waited:
        """Waits for the end of the process."""
        return self.wait(id, Condition(exit=True), milliseconds)

    def read(self, id: str, stream: StreamName, cursor: int = 0, max_bytes: int = 65_536) -> Piece:
        """A piece of a stream from a cursor on, at most 1 MiB. No character is split between reads."""
        return lift(Piece, self.interface.read(id, Position(stream, cursor), bounded("max_bytes", max_bytes)))

    def read_all(self, id: str, stream: StreamName, maximum_bytes: int) -> bytes:
        """What a stream printed so far and is kept, from its beginning, in at most so many bytes."""
        collected = bytearray()
        for piece in self._pieces(id, stream):
            collected += piece.data
            if len(collected) >= maximum_bytes:
                break
        return bytes(collected[:maximum_bytes])

    def _pieces(self, id: str, stream: StreamName) -> Iterator[Piece]:
        cursor = 0
        while True:
            piece = self.read(id, stream, cursor)
            yield piece
            if not piece.data:
                return
            cursor = piece.next

    def head(self, id: str, stream: StreamName, lines: int, max_bytes: int = 65_536) -> Piece:
        """The first lines that are kept."""
        return lift(Piece, self.interface.head(id, stream, bounded("lines", lines), bounded("max_bytes", max_bytes)))

    def tail(self, id: str, stream: StreamName, lines: int, max_bytes: int = 65_536) -> Piece:
        """The last lines."""
        return lift(Piece, self.interface.tail(id, stream, bounded("lines", lines), bounded("max_bytes", max_bytes)))

    def write(self, id: str, data: bytes, milliseconds: int) -> int:
        """Writes to its standard input, and returns how many bytes it took in the time.

        `gone` where the input is closed, was never open, or nobody reads it.
        """
        return int(self.interface.write(id, data, milliseconds))

    def close_input(self, id: str) -> None:
        """Closes its standard input. Closing it again does nothing."""
        self.interface.close_input(id)

    def signal(self, id: str, signal: Signal) -> None:
        """Sends a signal to its process group. `gone` where it has ended."""
        self.interface.signal(id, signal)

    def stop(self, id: str, grace_milliseconds: int = 2_000) -> ProcessInfo:
        """Ends it and everything that descends from it, by force after the grace (a minute at most)."""
        return lift(ProcessInfo, self.interface.stop(id, grace_milliseconds))


@dataclass(frozen=True)
class RawLaunch:
    """`process.launch` of the contract."""

    directory: str
    environment: list[tuple[str, str]]
    input: bool
    lifetime_milliseconds: int | None
    silence_milliseconds: int | None
    options: str | None = None


def _raw_launch(launch: Launch | None) -> RawLaunch:
    asked = launch or Launch()
    return RawLaunch(
        asked.directory,
        list(asked.environment.items()),
        asked.input,
        asked.lifetime_milliseconds,
        asked.silence_milliseconds,
    )
