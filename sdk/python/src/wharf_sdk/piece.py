"""A piece of what was printed, as streams of processes and views of terminals are read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Piece:
    """A piece of a stream or a view."""

    start: int
    """Later than what was asked for where that is evicted."""
    next: int
    """The cursor to go on from."""
    evicted_before: int
    end: int
    """How much was printed in all when this was read."""
    data: bytes

    def text(self) -> str:
        """The piece as text; what is no UTF-8 becomes replacement characters."""
        return self.data.decode("utf-8", "replace")
