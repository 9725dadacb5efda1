"""What a tool answers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from .errors import ToolError

T = TypeVar("T")


@dataclass(frozen=True)
class Content:
    """One part of an answer. Make it by `text` or `binary`."""

    mime_type: str
    """`text/plain`, `image/png` and others: at most 255 bytes."""
    data: bytes
    meta: dict[str, Any] = field(default_factory=dict)
    """Further protocol fields of the part."""

    @classmethod
    def text(cls, text: str) -> Content:
        """A part of plain text."""
        return cls("text/plain", text.encode("utf-8", "replace"))

    @classmethod
    def binary(cls, mime_type: str, data: bytes) -> Content:
        """A part of any other type, such as `image/png`."""
        return cls(mime_type, data)

    def at(self, uri: str) -> Content:
        """The same as an embedded resource of this address."""
        return replace(self, meta={**self.meta, "uri": uri})


@dataclass(frozen=True)
class Answer:
    """A whole answer, in the tool's own hands. At most 256 parts; 1 MiB in all unless the operator says otherwise."""

    content: list[Content] = field(default_factory=list)
    structured: Any = None
    """What JSON can have, or nothing. There is no output schema to check it against."""
    is_error: bool = False
    """The tool could not do it, in a way that the model should react to."""
    meta: dict[str, Any] = field(default_factory=dict)
    """Further protocol fields of the answer."""

    def as_text(self) -> str:
        """The text of all parts that are plain text."""
        return "\n".join(
            part.data.decode("utf-8", "replace") for part in self.content if part.mime_type == "text/plain"
        )

    @classmethod
    def of_error(cls, error: ToolError) -> Answer:
        """An error as the model reads it."""
        advice = " (the same call may succeed later)" if error.retryable else ""
        return cls([Content.text(f"{error.code}: {error.message}{advice}")], is_error=True)


@dataclass(frozen=True)
class Reply(Generic[T]):
    """A structured answer with a text to read. `T` is a dataclass, whose schema is the tool's output schema."""

    text: str
    structured: T
