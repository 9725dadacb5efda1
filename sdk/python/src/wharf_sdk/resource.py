"""Resources: what a plugin has to read, named by addresses. And completion of what a person types."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable
from urllib.parse import unquote

from .answer import Content
from .call import Call
from .shapes import Json


@dataclass(frozen=True)
class Resource:
    """Something that can be read."""

    uri: str
    """Starts with a claim of the plugin. At most 2,048 bytes of printable ASCII without spaces."""
    name: str
    """For people. 1 to 256 bytes."""
    description: str = ""
    mime_type: str | None = None
    meta: dict[str, Json] = field(default_factory=dict)
    """Such as `title`, `annotations` and `size`."""


@dataclass(frozen=True)
class ResourceTemplate:
    """A family of resources."""

    uri_template: str
    """RFC 6570, level 1: `{name}` stands for one part of a path."""
    name: str
    description: str = ""
    mime_type: str | None = None
    meta: dict[str, Json] = field(default_factory=dict)

    def variables(self, uri: str) -> dict[str, str] | None:
        """The values of its variables in an address, decoded; none where it is no address of this family."""
        parts = re.split(r"\{([A-Za-z0-9_]+)\}", self.uri_template)
        names = parts[1::2]
        pattern = "([^/?#]+)".join(re.escape(text) for text in parts[::2])
        found = re.fullmatch(pattern, uri)
        return None if found is None else dict(zip(names, map(unquote, found.groups()), strict=True))


@dataclass(frozen=True)
class ResourcePart:
    """What was read, or a part of it."""

    uri: str
    """The address that was asked for, or one below it."""
    content: Content


class Resources(Protocol):
    """What a plugin has to read: `plugin(…, resources=Manual())` exports it."""

    @property
    def claims(self) -> Sequence[str]:
        """The beginnings of its addresses, 1 to 16, such as `manual://`. No other plugin may claim the same."""
        ...

    def templates(self) -> list[ResourceTemplate]:
        """Families of resources, at most 256, the same each time."""
        ...

    def read(self, call: Call, uri: str) -> list[ResourcePart]:
        """Reads one: 1 to 256 parts. Raises `not-found` where there is none in this context."""
        ...

    def list(self, call: Call) -> list[Resource]:
        """What can be read in this context, at most 1,024."""
        ...


@dataclass(frozen=True)
class Typed:
    """What a person has typed so far."""

    kind: Literal["prompt", "template"] | str
    """Answer kinds that you do not know with no values."""
    name: str
    """The prompt's name, or the template's address."""
    argument: str
    text: str
    """At most 4,096 bytes."""
    others: dict[str, str]
    """The arguments that are filled already."""


@dataclass(frozen=True)
class Completions:
    """What may be meant, the best first. The host shows the first 100."""

    values: list[str] = field(default_factory=list)
    total: int | None = None
    has_more: bool = False


@runtime_checkable
class Completion(Protocol):
    """Completes what a person types: `plugin(…, completion=complete)` exports it. Be quick: each key asks."""

    def __call__(self, call: Call, typed: Typed) -> Completions:
        """Completes a word."""
        ...
