"""What the host says of processes. Cursors and sizes are bytes; a cursor never changes its meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .piece import Piece

StreamName = Literal["stdout", "stderr"]


@dataclass(frozen=True)
class Position:
    """A place in a stream."""

    stream: StreamName
    cursor: int


@dataclass(frozen=True)
class StreamProgress:
    """How far one stream has come."""

    bytes: int
    """The cursor behind the last byte."""
    evicted_before: int
    """Bytes before this cursor are not kept any more."""
    open: bool
    """Somebody can still write to it."""
    damaged: bool
    """Output was lost because the host could not store it."""


@dataclass(frozen=True)
class Outcome:
    """How a process ended."""

    kind: str
    """`exited`, `signaled`, `killed` or `not-started`. Treat an unknown word as `killed`."""
    code: int | None
    signal: int | None
    reason: str | None
    """Why the host killed it, or why it did not start."""


@dataclass(frozen=True)
class ProcessInfo:
    """A process as it is now."""

    id: str
    """Its handle: unguessable, never a process id."""
    command: str
    pid: int | None
    status: str
    """`starting`, `running`, `finished` (exited with code 0), `failed` or `killed`."""
    outcome: Outcome | None
    started: str
    """RFC 3339 in UTC."""
    finished: str | None
    stdout: StreamProgress
    stderr: StreamProgress
    descendants: int | None
    """After its end: how many of its descendants live."""
    meta: str | None
    """The text of a JSON object of further fields."""


@dataclass(frozen=True)
class Advice:
    """What the host says to who polls too often."""

    polls: int
    over_milliseconds: int
    mean_interval_milliseconds: int
    suggested_interval_milliseconds: int
    text: str


@dataclass(frozen=True)
class Polled:
    """What a poll found."""

    process: ProcessInfo
    stdout: Piece
    stderr: Piece
    advice: Advice | None


@dataclass(frozen=True)
class Waited:
    """How a wait ended."""

    reason: str
    """`output`, `pattern`, `exit`, `idle`, or `time-up` where none of it happened in time."""
    found: tuple[int, int] | None
    """Where the pattern matched: the cursors of its first byte and behind its last."""
    process: ProcessInfo
    advice: Advice | None
