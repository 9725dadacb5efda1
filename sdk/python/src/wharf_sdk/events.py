"""Streams of events, which outlive the call that opened them. Progress and messages are methods of `Call`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from .shapes import Json, write_json

Status = Literal["processing", "typing", "ready", "completed", "error", "nothing-new"]


@dataclass(frozen=True)
class Stream:
    """One stream. Every function fails with `denied`, `not-found`, `gone` after its end, and `limit` after too many."""

    interface: Any
    id: str
    """Unguessable. Later calls write to the stream by it: `Call.stream`."""

    def status(self, word: Status) -> None:
        """Says how the work stands."""
        self.interface.status(self.id, word)

    def say(self, text: str) -> None:
        """Says something: 1 to 8,192 bytes."""
        self.interface.say(self.id, text)

    def advance(self, stage: str, percent: float | None = None) -> None:
        """Says how far the work has come: a stage of at most 256 bytes, and 0 to 100 percent."""
        self.interface.advance(self.id, stage, None if percent is None else float(percent))

    def complete(self) -> None:
        """Ends the stream. Completing it again does nothing."""
        self.interface.complete(self.id)


@dataclass(frozen=True)
class Streams:
    """Opens streams."""

    interface: Any

    def open(self, title: str, preset: str | None, parameters: dict[str, Json] | None) -> Stream:
        """Opens one. Without `preset` and `parameters`, the host's own hold."""
        options: dict[str, Json] = {}
        if preset is not None:
            options["preset"] = preset
        if parameters is not None:
            options["parameters"] = parameters
        return Stream(self.interface, self.interface.open_stream(title, write_json(options) if options else None))
