"""Durable entries of the plugin, kept apart by the context of the call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

from .errors import ToolError
from .host import lift
from .shapes import Json, read_json, write_json

R = TypeVar("R")

Scope = Literal["thread", "session", "assistant", "plugin", "default"]

ATTEMPTS = 200
"""How often a change is tried while others change the same entries."""

RESERVE_MILLISECONDS = 250
"""Where less time than this is left, the tool should answer rather than try again."""

MAXIMUM_PAGE = 1_000


@dataclass(frozen=True)
class Entry:
    """One stored entry."""

    key: str
    value: bytes
    revision: int
    """Changes with every write, never returns to an earlier value, is never 0."""

    def json(self) -> Json:
        """The value as JSON. `internal` where it is none: nobody but this plugin wrote it."""
        try:
            return read_json(self.value.decode(), f"the entry `{self.key}`")
        except (ToolError, UnicodeDecodeError) as error:
            raise ToolError.internal(f"the entry `{self.key}` holds no JSON: {error}") from None


@dataclass(frozen=True)
class Change:
    """One change of an `apply`."""

    key: str
    """1 to 512 bytes of UTF-8."""
    value: bytes | None
    """At most 1 MiB; none deletes the key, which need not exist."""
    if_revision: int | None = None
    """The revision that the key must have now; 0 where it must be absent; none where anything will do."""

    @classmethod
    def put_json(cls, key: str, value: Json, if_revision: int | None = None) -> Change:
        """Writes a JSON value."""
        return cls(key, json_bytes(value), if_revision)

    @classmethod
    def delete(cls, key: str, if_revision: int | None = None) -> Change:
        """Deletes a key."""
        return cls(key, None, if_revision)


@dataclass(frozen=True)
class Page:
    """A part of an ordered scan."""

    entries: list[Entry]
    next: str | None
    """What to pass as `after` for the next page; none where this is the last one."""


@dataclass(frozen=True)
class Usage:
    """How much a bucket holds."""

    entries: int
    bytes: int
    quota_bytes: int


@dataclass(frozen=True)
class Bucket:
    """The entries of one scope under one name. Get it from `Call.state`.

    Every function may fail with `unavailable` or `timeout`, both retryable.
    """

    handle: Any
    remaining: Callable[[], int]

    def get(self, key: str) -> Entry | None:
        """One entry, or none. `invalid` for a key that is not 1 to 512 bytes."""
        return self.get_many([key])[0]

    def get_many(self, keys: Sequence[str]) -> list[Entry | None]:
        """The entries of at most 1,000 keys, in their order, none for each that is absent.

        Errors: `invalid` for too many or an illegal one; `limit` where they are more than 4 MiB.
        """
        found = self.handle.get_many(list(keys))
        return [None if entry is None else lift(Entry, entry) for entry in found]

    def get_json(self, key: str, default: Json = None) -> Json:
        """The JSON value of one entry, or `default`."""
        entry = self.get(key)
        return default if entry is None else entry.json()

    def put(self, key: str, value: bytes) -> int:
        """Writes one entry, whatever it was, and returns its new revision. Errors as `apply`."""
        return self.apply([Change(key, value)])[0]

    def put_json(self, key: str, value: Json) -> int:
        """Writes one entry as JSON."""
        return self.apply([Change.put_json(key, value)])[0]

    def delete(self, key: str) -> None:
        """Deletes one entry, which need not exist."""
        self.apply([Change.delete(key)])

    def apply(self, changes: Sequence[Change]) -> list[int]:
        """Makes all changes or none, and returns the new revision of each, 0 for one that deletes.

        At most 1,000 changes, no key twice. Errors: `conflict` names the first key whose
        revision is not the expected one; `invalid`; `limit` where a quota would be exceeded.
        """
        revisions: list[int] = self.handle.apply(list(changes))
        return revisions

    def page(self, prefix: str = "", after: str | None = None, limit: int = MAXIMUM_PAGE) -> Page:
        """Entries whose key starts with `prefix`, in key order, behind `after`.

        At most `limit` (1 to 1,000) and about 1 MiB. Only an absent `next` means the end.
        """
        return lift(Page, self.handle.scan(prefix, after, max(1, min(limit, MAXIMUM_PAGE))))

    def scan(self, prefix: str = "", page_size: int = 100) -> Iterator[Entry]:
        """Every entry whose key starts with `prefix`, in key order, a page at a time.

        What others write meanwhile may or may not be seen.
        """
        after: str | None = None
        while True:
            page = self.page(prefix, after, page_size)
            yield from page.entries
            if page.next is None:
                return
            after = page.next

    def usage(self) -> Usage:
        """What the bucket holds now, and may hold."""
        return lift(Usage, self.handle.usage())

    def expired_at(self) -> str | None:
        """When its content last expired (RFC 3339, UTC), if that is why it is empty."""
        expired: str | None = self.handle.expired_at()
        return expired

    def update(self, key: str, change: Callable[[Any], Json], default: Json = None) -> Json:
        """Changes the JSON value of one key, and returns the new one.

        `change` gets the value (`default` where there is none) and returns the new
        one. It may run several times, each time on the value as it is then. Where it
        raises, nothing is written.

        Errors: what `change` raises; `conflict` where others write so often that it
        never came through; and as `get_many` and `apply`.
        """

        def attempt(entries: list[Entry | None]) -> tuple[list[Change], Json]:
            (entry,) = entries
            # A fresh copy of the default for each attempt: `change` may alter what it gets.
            value = change(entry.json() if entry else read_json(write_json(default), "default"))
            return [Change.put_json(key, value)], value

        return self.transact([key], attempt)

    def transact(self, keys: Sequence[str], attempt: Callable[[list[Entry | None]], tuple[list[Change], R]]) -> R:
        """The same for several keys: `attempt` sees their entries, and returns the changes and a result.

        A change of one of `keys` without a revision is made only while that key is as
        `attempt` saw it. Without any change nothing is written.
        """
        for _ in range(ATTEMPTS):
            entries = self.get_many(keys)
            changes, result = attempt(entries)
            if not changes:
                return result
            seen = {key: entry.revision if entry else 0 for key, entry in zip(keys, entries, strict=True)}
            expected = [
                replace(change, if_revision=seen.get(change.key)) if change.if_revision is None else change
                for change in changes
            ]
            try:
                self.apply(expected)
                return result
            except ToolError as error:
                if error.code != "conflict":
                    raise
            # No pause: each conflict means that another call came through.
            if self.remaining() < RESERVE_MILLISECONDS:
                break
        raise ToolError.conflict("others changed the same entries during each attempt; nothing was changed")


def json_bytes(value: Json) -> bytes:
    """A JSON value as it is stored. `internal` where it is none."""
    try:
        return write_json(value).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ToolError.internal(f"this cannot be stored as JSON: {error}") from None
