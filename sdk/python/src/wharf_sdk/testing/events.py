"""Events in memory."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any

from ..errors import ToolError
from .world import Context, World, owned


@dataclass
class TestStream:
    """A stream, and what was written to it: pairs of the function and what it was given."""

    __test__ = False

    owner: Any
    title: str
    events: list[tuple[str, Any]] = field(default_factory=list)
    ended: bool = False


@dataclass(frozen=True)
class EventsInterface:
    """`events` of the contract."""

    context: Context
    world: World

    def progress(self, done: float, total: float | None, message: str | None) -> None:
        """Keeps it in `world.progress`."""
        for number in (done, 0.0 if total is None else total):
            if not math.isfinite(number) or number < 0:
                raise ToolError.invalid("progress: the numbers are finite and not negative")
        self.world.progress.append((done, total, message))

    def message(self, level: str, data: str) -> None:
        """Keeps it in `world.messages`."""
        if len(data.encode()) > 8_192:
            raise ToolError.invalid("a message has at most 8,192 bytes")
        self.world.messages.append((level, json.loads(data)))

    def open_stream(self, title: str, options: str | None) -> str:
        """Opens a stream, kept in `world.streams`."""
        if len(title.encode()) > 256:
            raise ToolError.invalid("a title has at most 256 bytes")
        id = self.world.id("stream")
        self.world.streams[id] = TestStream(self.context.owner, title)
        return id

    def status(self, stream: str, word: str) -> None:
        self._write(stream, "status", word)

    def say(self, stream: str, text: str) -> None:
        if not 1 <= len(text.encode()) <= 8_192:
            raise ToolError.invalid("a message has 1 to 8,192 bytes")
        self._write(stream, "say", text)

    def advance(self, stream: str, stage: str, percent: float | None) -> None:
        if len(stage.encode()) > 256 or (percent is not None and not 0 <= percent <= 100):
            raise ToolError.invalid("a stage has at most 256 bytes, and a percentage is 0 to 100")
        self._write(stream, "advance", (stage, percent))

    def complete(self, stream: str) -> None:
        owned(self.world.streams, stream, self.context.owner, "stream").ended = True

    def _write(self, stream: str, function: str, what: Any) -> None:
        found = owned(self.world.streams, stream, self.context.owner, "stream")
        if found.ended:
            raise ToolError.gone("the stream has ended")
        found.events.append((function, what))

    def changed(self, what: str) -> None:
        """Keeps it in `world.changes`."""
        if what not in ("tools", "prompts", "resources"):
            raise ToolError.invalid("expected tools, prompts or resources")
        self.world.changes.append(what)

    def updated(self, uri: str) -> None:
        """Keeps it in `world.changes`."""
        self.world.changes.append(uri)
