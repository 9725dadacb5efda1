"""What all contexts of a test host share, and the context of one call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..errors import ToolError
from ..http import Request, Response


@dataclass(frozen=True)
class Context:
    """On whose behalf a call runs."""

    session: str = "default"
    assistant: str | None = None
    thread: str | None = None
    request_meta: str = "{}"
    settings: str = "{}"
    remaining_milliseconds: int = 30_000
    denied: frozenset[str] = frozenset()
    """The interfaces that answer `denied`."""

    @property
    def owner(self) -> tuple[str, str | None]:
        """Whose streams, terminals and pages they are."""
        return (self.session, self.assistant)


@dataclass
class World:
    """Everything that outlives a call."""

    log: list[tuple[str, str]] = field(default_factory=list)
    progress: list[tuple[float, float | None, str | None]] = field(default_factory=list)
    messages: list[tuple[str, Any]] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)
    streams: dict[str, Any] = field(default_factory=dict)
    buckets: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    expired: dict[tuple[Any, ...], str] = field(default_factory=dict)
    revision: int = 0
    programs: dict[str, Any] = field(default_factory=dict)
    processes: dict[str, Any] = field(default_factory=dict)
    scripts: dict[str, Any] = field(default_factory=dict)
    terminals: dict[str, Any] = field(default_factory=dict)
    site: dict[str, Any] = field(default_factory=dict)
    pages: dict[str, Any] = field(default_factory=dict)
    requests: dict[str, Any] = field(default_factory=dict)
    server: Callable[[Request], Response] | None = None
    directory: str | None = None
    issued: int = 0

    def id(self, kind: str) -> str:
        """A new handle."""
        self.issued += 1
        return f"{kind}-{self.issued}"


def owned(things: dict[str, Any], id: str, owner: Any, what: str) -> Any:
    """A thing of this owner. `not-found` where there is none: that of another one is not told apart."""
    found = things.get(id)
    if found is None or found.owner != owner:
        raise ToolError.not_found(f"there is no such {what}")
    return found
