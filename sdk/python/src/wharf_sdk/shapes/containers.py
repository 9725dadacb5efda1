"""Lists, tuples of one type, and dictionaries by text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..fields import ARRAY_BOUNDS, OBJECT_BOUNDS, Field
from .base import Definitions, Json, Shape, below, mismatch, refuse
from .bounds import bounds_schema, check_bounds
from .scalars import is_utf8


class Array(Shape):
    """`list[T]` or `tuple[T, ...]`."""

    kinds = frozenset({"array"})

    def __init__(self, field: Field, item: Shape, make: Callable[[list[Any]], Any]) -> None:
        self.field = field
        self.item = item
        self.make = make

    def parts(self) -> Iterator[Shape]:
        yield self.item

    def schema(self, definitions: Definitions) -> dict[str, Json]:
        return {"type": "array", "items": self.item.schema(definitions), **bounds_schema(self.field, ARRAY_BOUNDS)}

    def decode(self, value: Json, path: str) -> Any:
        if not isinstance(value, list):
            raise refuse(path, "an array", value)
        check_bounds(path, len(value), self.field.min_items, self.field.max_items, "items")
        return self.make([self.item.decode(item, f"{path}[{index}]") for index, item in enumerate(value)])

    def encode(self, value: Any, path: str) -> Json:
        if not isinstance(value, (list, tuple)):
            raise mismatch(path, "a list", value)
        return [self.item.encode(item, f"{path}[{index}]") for index, item in enumerate(value)]


class Table(Shape):
    """`dict[str, T]`."""

    kinds = frozenset({"object"})

    def __init__(self, field: Field, item: Shape) -> None:
        self.field = field
        self.item = item

    def parts(self) -> Iterator[Shape]:
        yield self.item

    def schema(self, definitions: Definitions) -> dict[str, Json]:
        items = self.item.schema(definitions)
        return {"type": "object", "additionalProperties": items or True, **bounds_schema(self.field, OBJECT_BOUNDS)}

    def decode(self, value: Json, path: str) -> dict[str, Any]:
        if not isinstance(value, dict) or not all(map(is_utf8, value)):
            raise refuse(path, "an object", value)
        check_bounds(path, len(value), self.field.min_items, self.field.max_items, "members")
        return {name: self.item.decode(item, below(path, name)) for name, item in value.items()}

    def encode(self, value: Any, path: str) -> Json:
        if not isinstance(value, Mapping) or not all(isinstance(name, str) and is_utf8(name) for name in value):
            raise mismatch(path, "a dict by str", value)
        return {name: self.item.encode(item, below(path, name)) for name, item in value.items()}
