"""What the host says of terminals. Cursors count the bytes of a view, and never change their meaning."""

from __future__ import annotations

from dataclasses import dataclass

from .piece import Piece


@dataclass(frozen=True)
class Completion:
    """Why a turn is complete."""

    layer: str
    """`L0` to `L4`, the strongest sign first."""
    reason: str
    """Such as `command-ended`, `strict-prompt`, `idle` or `time-limit`. Treat an unknown one by its layer."""
    confidence: str
    """`certain`, `high`, `medium`, `low`, or `none` where the turn was cut off."""
    messages: int
    attempts: int
    empty_polls: int
    idle_milliseconds: int
    elapsed_milliseconds: int
    exit_code: int | None


@dataclass(frozen=True)
class Turn:
    """A turn as it is now."""

    number: int
    start: int
    """Where it begins in the view `text`."""
    end: int | None
    """Where it ends, once it is complete or cancelled."""
    complete: Completion | None
    cancelled: bool
    meta: str | None


@dataclass(frozen=True)
class Outcome:
    """How a program ended."""

    kind: str
    """`exited`, `signaled` or `killed`. Treat an unknown word as `killed`."""
    code: int | None
    signal: int | None
    reason: str | None


@dataclass(frozen=True)
class Extent:
    """How far one view has come."""

    bytes: int
    evicted_before: int


@dataclass(frozen=True)
class TerminalInfo:
    """A terminal as it is now."""

    id: str
    """Its handle: unguessable, never a process id."""
    command: str
    profile: str
    preset: str
    status: str
    """`starting`, `ready`, `busy`, `needs-input`, `restarting` or `closed`. Treat an unknown word as `ready`."""
    pid: int | None
    columns: int
    rows: int
    started: str
    last_used: str
    ended: str | None
    outcome: Outcome | None
    restarts: int
    restarted_because: str | None
    turn: Turn | None
    text: Extent
    raw: Extent
    alternate_screen: bool
    recording: bool
    stream: str | None
    meta: str | None


@dataclass(frozen=True)
class Started:
    """What starting a terminal answers."""

    terminal: TerminalInfo
    replaced: list[str]
    """The ids of those that were closed to make room for it."""


@dataclass(frozen=True)
class Followed:
    """What following a turn answers."""

    piece: Piece
    turn: Turn


@dataclass(frozen=True)
class Screen:
    """What a person would see."""

    columns: int
    rows: int
    lines: list[str]
    cursor_column: int
    cursor_row: int
    cursor_visible: bool
    alternate: bool
    history: list[str]
    meta: str | None
