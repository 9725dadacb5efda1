"""`Shape`: one type as JSON sees it: its schema, and the way from JSON and back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

from ..errors import ToolError

Json = Any
"""None, a bool, an int, a float, a str, a list of these, or a dict of these by str."""

Definitions = dict[str, dict[str, Json]]
"""`$defs` of the schema that is being written, by name."""


class Shape(ABC):
    """What one annotation comes to. Shapes are made once, when a tool is defined."""

    kinds: frozenset[str] = frozenset()
    """The JSON types that its values have, by the words of JSON Schema; `number` covers `integer`."""

    @abstractmethod
    def schema(self, definitions: Definitions) -> dict[str, Json]:
        """Its JSON Schema. What refers to itself goes into `definitions`."""

    @abstractmethod
    def decode(self, value: Json, path: str) -> Any:
        """The Python value of a JSON value; `invalid`, naming `path`, where it does not fit."""

    @abstractmethod
    def encode(self, value: Any, path: str) -> Json:
        """The JSON value of a Python value; `TypeError` or `ValueError` where it does not fit."""

    def parts(self) -> Iterator[Shape]:
        """The shapes that it is made of."""
        return iter(())


def refuse(path: str, expected: str, value: Json) -> ToolError:
    """The error for a value of another type. The value itself is not repeated: it may be large or private."""
    return ToolError.invalid(f"{path or 'the arguments'}: expected {expected}, got {kind_of(value)}")


def mismatch(path: str, expected: str, value: Any) -> TypeError:
    """The error for a Python value that is not of its annotation's type."""
    return TypeError(f"{path or 'the answer'}: expected {expected}, got {type(value).__name__}")


def kind_of(value: Json) -> str:
    """The word of JSON Schema for the type of a JSON value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def below(path: str, name: str) -> str:
    """The path of a member."""
    return f"{path}.{name}" if path else name
