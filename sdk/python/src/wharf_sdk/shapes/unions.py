"""Unions whose members JSON can tell apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..errors import ToolError
from .base import Definitions, Json, Shape, kind_of, mismatch, refuse
from .objects import Object
from .scalars import Choice, Null


class Union(Shape):
    """`A | B`: each of another JSON type; or dataclasses that a field of `Literal` tells apart."""

    def __init__(self, name: str, members: list[Shape]) -> None:
        self.members = members
        self.name = name
        self.objects = [member for member in members if isinstance(member, Object)]
        self.kinds = frozenset().union(*(member.kinds for member in members))
        self.tag = _tag(name, self.objects) if len(self.objects) > 1 else None
        seen: set[str] = set()
        for member in [*(m for m in members if m not in self.objects), *self.objects[:1]]:
            if seen & member.kinds:
                raise TypeError(f"{name}: JSON cannot tell its members apart")
            seen |= member.kinds

    def parts(self) -> Iterator[Shape]:
        return iter(self.members)

    def schema(self, definitions: Definitions) -> dict[str, Json]:
        schemas = [member.schema(definitions) for member in self.members if not isinstance(member, Null)]
        optional = len(schemas) < len(self.members)
        if optional and len(schemas) == 1 and isinstance(schemas[0].get("type"), str):
            # Clients read `"type": ["string", "null"]` more widely than `anyOf`.
            schema = {**schemas[0], "type": [schemas[0]["type"], "null"]}
            return {**schema, "enum": [*schema["enum"], None]} if "enum" in schema else schema
        return {"anyOf": [*schemas, {"type": "null"}] if optional else schemas}

    def decode(self, value: Json, path: str) -> Any:
        kind = kind_of(value)
        if kind == "object" and self.tag is not None:
            return self._tagged(value, path).decode(value, path)
        for member in self.members:
            if kind in member.kinds:
                return member.decode(value, path)
        raise refuse(path, " or ".join(sorted(self.kinds)), value)

    def _tagged(self, value: dict[str, Json], path: str) -> Object:
        given = value.get(self.tag or "")
        for member in self.objects:
            try:
                member.member(self.tag or "").decode(given, path)
            except ToolError:
                continue
            return member
        raise ToolError.invalid(f"{path or 'the arguments'}: `{self.tag}` names none of {self.name}")

    def encode(self, value: Any, path: str) -> Json:
        for member in self.members:
            if isinstance(member, Object) and not isinstance(value, member.type):
                continue
            try:
                return member.encode(value, path)
            except TypeError:
                if isinstance(member, Object):
                    raise
        raise mismatch(path, self.name, value)


def _tag(name: str, objects: list[Object]) -> str:
    """The field by which these dataclasses differ."""
    for candidate in objects[0].fields:
        shapes = [member.member(candidate) for member in objects if candidate in member.fields]
        choices = [shape for shape in shapes if isinstance(shape, Choice)]
        values = [(type(value), value) for choice in choices for value in choice.values()]
        required = all(member.fields[candidate].required for member in objects if candidate in member.fields)
        if required and len(choices) == len(objects) and len(set(values)) == len(values):
            return candidate
    raise TypeError(f"{name}: its dataclasses need a field of `Literal` without a default that tells them apart")
