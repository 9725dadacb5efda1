"""Texts, numbers, booleans, null, and values out of a closed list."""

from __future__ import annotations

import enum
import math
import re
from typing import Any

from ..fields import NUMBER_BOUNDS, TEXT_BOUNDS, Field
from .base import Definitions, Json, Shape, mismatch, refuse
from .bounds import bounds_schema, check_bounds


class Text(Shape):
    """`str`."""

    kinds = frozenset({"string"})

    def __init__(self, field: Field) -> None:
        self.field = field
        self.pattern = re.compile(field.pattern) if field.pattern is not None else None

    def schema(self, definitions: Definitions) -> dict[str, Json]:
        return {"type": "string", **bounds_schema(self.field, TEXT_BOUNDS)}

    def decode(self, value: Json, path: str) -> str:
        if not isinstance(value, str) or not is_utf8(value):
            raise refuse(path, "a text", value)
        check_bounds(path, len(value), self.field.min_length, self.field.max_length, "characters")
        if self.pattern is not None and not self.pattern.search(value):
            raise refuse(path, f"a text that matches `{self.pattern.pattern}`", value)
        return value

    def encode(self, value: Any, path: str) -> Json:
        if not isinstance(value, str):
            raise mismatch(path, "str", value)
        if not is_utf8(value):
            raise ValueError(f"{path or 'the answer'}: a text with a lone surrogate is no UTF-8")
        return value


class Number(Shape):
    """`int` or `float`. A boolean is no number, and neither is NaN or infinity."""

    kinds = frozenset({"number"})

    def __init__(self, field: Field, integer: bool) -> None:
        self.field = field
        self.integer = integer

    def schema(self, definitions: Definitions) -> dict[str, Json]:
        return {"type": "integer" if self.integer else "number", **bounds_schema(self.field, NUMBER_BOUNDS)}

    def decode(self, value: Json, path: str) -> int | float:
        expected = "an integer" if self.integer else "a number"
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise refuse(path, expected, value)
        if isinstance(value, float) and not math.isfinite(value):
            raise refuse(path, "a finite number", value)
        if self.integer and isinstance(value, float) and not value.is_integer():
            raise refuse(path, expected, value)
        check_bounds(path, value, self.field.minimum, self.field.maximum, "")
        try:
            return int(value) if self.integer else float(value)
        except OverflowError:
            raise refuse(path, "a number that a float can hold", value) from None

    def encode(self, value: Any, path: str) -> Json:
        if isinstance(value, bool) or not isinstance(value, int if self.integer else (int, float)):
            raise mismatch(path, "int" if self.integer else "float", value)
        if not math.isfinite(value):
            raise ValueError(f"{path or 'the answer'}: JSON has no {value}")
        return value


class Boolean(Shape):
    """`bool`."""

    kinds = frozenset({"boolean"})

    def schema(self, definitions: Definitions) -> dict[str, Json]:
        return {"type": "boolean"}

    def decode(self, value: Json, path: str) -> bool:
        if not isinstance(value, bool):
            raise refuse(path, "true or false", value)
        return value

    def encode(self, value: Any, path: str) -> Json:
        if not isinstance(value, bool):
            raise mismatch(path, "bool", value)
        return value


class Null(Shape):
    """`None`."""

    kinds = frozenset({"null"})

    def schema(self, definitions: Definitions) -> dict[str, Json]:
        return {"type": "null"}

    def decode(self, value: Json, path: str) -> None:
        if value is not None:
            raise refuse(path, "null", value)

    def encode(self, value: Any, path: str) -> Json:
        if value is not None:
            raise mismatch(path, "None", value)
        return None


class Choice(Shape):
    """`Literal` or an `Enum`: one of a closed list of texts, integers and booleans."""

    def __init__(self, name: str, choices: dict[Json, Any]) -> None:
        if not choices or not all(type(value) in _KINDS for value in choices):
            raise TypeError(f"{name}: only texts, integers and booleans can be chosen from")
        self.name = name
        # A pair tells 1 from True, which are equal in Python and different in JSON.
        self.choices = {(type(value), value): chosen for value, chosen in choices.items()}
        self.kinds = frozenset(_KINDS[kind] for kind, _ in self.choices)

    def values(self) -> list[Json]:
        """What may be chosen, in the order of the definition."""
        return [value for _, value in self.choices]

    def schema(self, definitions: Definitions) -> dict[str, Json]:
        words = sorted({_WORDS[kind] for kind, _ in self.choices})
        return {"type": words[0] if len(words) == 1 else words, "enum": self.values()}

    def decode(self, value: Json, path: str) -> Any:
        key = (type(value), value) if isinstance(value, (str, int)) else None
        if key not in self.choices:
            raise refuse(path, "one of " + ", ".join(map(repr, self.values())), value)
        return self.choices[key]

    def encode(self, value: Any, path: str) -> Json:
        raw = value.value if isinstance(value, enum.Enum) else value
        key = (type(raw), raw) if isinstance(raw, (str, int)) else None
        if key not in self.choices or self.choices[key] != value:
            raise mismatch(path, f"one of {self.name}", value)
        return raw


class AnyValue(Shape):
    """`Any`: whatever JSON has. The schema says nothing of it."""

    kinds = frozenset({"null", "boolean", "number", "string", "array", "object"})

    def schema(self, definitions: Definitions) -> dict[str, Json]:
        return {}

    def decode(self, value: Json, path: str) -> Json:
        return value

    def encode(self, value: Any, path: str) -> Json:
        return value


_KINDS: dict[type, str] = {str: "string", int: "number", bool: "boolean"}
_WORDS: dict[type, str] = {str: "string", int: "integer", bool: "boolean"}


def is_utf8(text: str) -> bool:
    """False for a text with half of a surrogate pair, which JSON's escapes can spell and UTF-8 cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
