"""State in memory: contexts apart, all changes or none, revisions that never return."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ..errors import ToolError
from ..state import MAXIMUM_PAGE, Change, Entry, Page, Usage
from .world import Context, World

MAXIMUM_KEY_BYTES = 512
MAXIMUM_VALUE_BYTES = 1_048_576
MAXIMUM_CALL_BYTES = 4_194_304
QUOTA_BYTES = 67_108_864


def bucket_scope(context: Context, scope: str) -> tuple[Any, ...]:
    """What keys a bucket."""
    if scope == "thread":
        return (scope, context.session, context.assistant, context.thread)
    if scope in ("session", "default"):
        return ("session", context.session)
    if scope == "assistant":
        if context.assistant is None:
            raise ToolError.invalid("scope `assistant`: this call has no assistant")
        return (scope, context.assistant)
    if scope == "plugin":
        return (scope,)
    raise ToolError.invalid("scope: expected thread, session, assistant, plugin or default")


@dataclass(frozen=True)
class StateInterface:
    """`state` of the contract."""

    context: Context
    world: World

    @property
    def Bucket(self) -> StateInterface:  # noqa: N802
        """The resource, whose static function opens one."""
        return self

    def open(self, scope: str, name: str) -> TestBucket:
        """Opens a bucket."""
        if not re.fullmatch(r"[A-Za-z0-9._-]{1,64}", name):
            raise ToolError.invalid("the name of a bucket is 1 to 64 bytes of [A-Za-z0-9._-]")
        return TestBucket(self.world, (bucket_scope(self.context, scope), name))


@dataclass(frozen=True)
class TestBucket:
    """`state.bucket` of the contract."""

    __test__ = False

    world: World
    key: tuple[Any, ...]

    def _entries(self) -> dict[str, Entry]:
        found: dict[str, Entry] = self.world.buckets.get(self.key, {})
        return found

    def get_many(self, keys: list[str]) -> list[Entry | None]:
        _count(keys)
        for key in keys:
            _legal(key)
        found = [self._entries().get(key) for key in keys]
        if sum(len(entry.value) for entry in found if entry) > MAXIMUM_CALL_BYTES:
            raise ToolError.limit("the values together exceed the bytes of one host call; ask for fewer")
        return found

    def apply(self, changes: list[Change]) -> list[int]:
        _count(changes)
        entries = dict(self._entries())
        if len({change.key for change in changes}) < len(changes):
            raise ToolError.invalid("a key is given twice")
        for change in changes:
            _legal(change.key)
            if change.value is not None and len(change.value) > MAXIMUM_VALUE_BYTES:
                raise ToolError.invalid(f"the value of `{change.key}` has more than {MAXIMUM_VALUE_BYTES} bytes")
            known = entries.get(change.key)
            if change.if_revision is not None and change.if_revision != (known.revision if known else 0):
                raise ToolError.conflict(f"`{change.key}` has another revision")
        revisions = []
        for change in changes:
            entries.pop(change.key, None)
            revision = 0
            if change.value is not None:
                self.world.revision += 1
                revision = self.world.revision
                entries[change.key] = Entry(change.key, bytes(change.value), revision)
            revisions.append(revision)
        if _size(entries) > QUOTA_BYTES and any(change.value is not None for change in changes):
            raise ToolError.limit(f"the bucket may hold {QUOTA_BYTES} bytes")
        self.world.buckets[self.key] = entries
        self.world.expired.pop(self.key, None)
        return revisions

    def scan(self, prefix: str, after: str | None, limit: int) -> Page:
        for text in (prefix, after or ""):
            if len(text.encode()) > MAXIMUM_KEY_BYTES:
                raise ToolError.invalid("`prefix` or `after` is too long for a key")
        start = b"" if after is None else after.encode()
        found = [e for e in self._entries().values() if e.key.startswith(prefix) and e.key.encode() > start]
        found.sort(key=lambda entry: entry.key.encode())
        page = found[: max(1, min(limit, MAXIMUM_PAGE))]
        return Page(page, page[-1].key if len(page) < len(found) else None)

    def usage(self) -> Usage:
        entries = self._entries()
        return Usage(len(entries), _size(entries), QUOTA_BYTES)

    def expired_at(self) -> str | None:
        return self.world.expired.get(self.key)


def _size(entries: dict[str, Entry]) -> int:
    return sum(len(entry.key.encode()) + len(entry.value) for entry in entries.values())


def _count(things: list[Any]) -> None:
    if len(things) > MAXIMUM_PAGE:
        raise ToolError.invalid(f"at most {MAXIMUM_PAGE} at once")


def _legal(key: str) -> None:
    if not 1 <= len(key.encode("utf-8", "replace")) <= MAXIMUM_KEY_BYTES:
        raise ToolError.invalid("a key is 1 to 512 bytes of UTF-8")
