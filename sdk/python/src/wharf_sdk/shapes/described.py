"""A shape with a description."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .base import Definitions, Json, Shape


class Described(Shape):
    """`Annotated[T, "description"]`."""

    def __init__(self, shape: Shape, description: str | None, name: str | None) -> None:
        self.shape = shape
        self.description = description
        self.name = name
        self.kinds = shape.kinds

    def parts(self) -> Iterator[Shape]:
        yield self.shape

    def schema(self, definitions: Definitions) -> dict[str, Json]:
        schema = self.shape.schema(definitions)
        return {**schema, "description": self.description} if self.description else schema

    def decode(self, value: Json, path: str) -> Any:
        return self.shape.decode(value, path)

    def encode(self, value: Any, path: str) -> Json:
        return self.shape.encode(value, path)
