"""`ToolError`: what a tool or a call of the host fails with, by the contract's codes."""

from __future__ import annotations

CODES = frozenset({"denied", "invalid", "not-found", "conflict", "limit", "timeout", "gone", "unavailable", "internal"})
"""Every code of the contract. Another one is read as `internal`."""

_RETRYABLE = frozenset({"conflict", "timeout", "unavailable"})

MAXIMUM_MESSAGE_BYTES = 4_096
"""The host cuts a message that is longer; so does `ToolError`."""


class ToolError(Exception):
    """An answer that the model reads: say what happened and what to do about it.

    `retryable` says whether the same call, unchanged, may succeed later. Where it
    is left out, it is true for `conflict`, `timeout` and `unavailable`.
    """

    def __init__(self, code: str, message: str, retryable: bool | None = None) -> None:
        self.code = code if code in CODES else "internal"
        self.message = cut(message, MAXIMUM_MESSAGE_BYTES)
        self.retryable = self.code in _RETRYABLE if retryable is None else retryable
        super().__init__(f"{self.code}: {self.message}")

    @classmethod
    def invalid(cls, message: str) -> ToolError:
        """An argument makes no sense here."""
        return cls("invalid", message)

    @classmethod
    def not_found(cls, message: str) -> ToolError:
        """There is no such thing."""
        return cls("not-found", message)

    @classmethod
    def conflict(cls, message: str) -> ToolError:
        """Something changed since it was read."""
        return cls("conflict", message)

    @classmethod
    def limit(cls, message: str) -> ToolError:
        """A limit is reached. Name it, and what makes room."""
        return cls("limit", message)

    @classmethod
    def denied(cls, message: str) -> ToolError:
        """The operator has not granted it."""
        return cls("denied", message)

    @classmethod
    def timeout(cls, message: str) -> ToolError:
        """A wait ended first."""
        return cls("timeout", message)

    @classmethod
    def gone(cls, message: str) -> ToolError:
        """It existed, and it does not any more."""
        return cls("gone", message)

    @classmethod
    def unavailable(cls, message: str) -> ToolError:
        """A service does not answer now."""
        return cls("unavailable", message)

    @classmethod
    def internal(cls, message: str) -> ToolError:
        """A defect of the tool."""
        return cls("internal", message)


def cut(text: str, maximum_bytes: int) -> str:
    """The beginning of a text, in at most so many bytes of UTF-8. A lone surrogate becomes `?`."""
    data = text.encode("utf-8", "replace")
    return data[:maximum_bytes].decode("utf-8", "ignore")
