"""Checks of what goes to the host.

The bindings end the whole call, without an error that could be caught, for a number
or a text that the contract's type cannot hold. So such values are refused before.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from .errors import ToolError
from .shapes.scalars import is_utf8

U16 = 0xFFFF
U32 = 0xFFFF_FFFF
U64 = 0xFFFF_FFFF_FFFF_FFFF


def bounded(name: str, value: int, most: int = U32) -> int:
    """A number that the host takes. `invalid`, naming it, where it is negative or too large."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise ToolError.invalid(f"`{name}`: expected a whole number from 0 to {most}")
    return value


def check(value: Any, path: str = "argument") -> None:
    """`invalid`, naming the place, where a value or a part of it is no text, number, bytes or record."""
    if isinstance(value, str):
        if not is_utf8(value):
            raise ToolError.invalid(f"`{path}`: a text with a lone surrogate is no UTF-8")
    elif isinstance(value, bool | float | bytes | bytearray | None):
        pass
    elif isinstance(value, int):
        bounded(path, value, U64)
    elif isinstance(value, list | tuple):
        for item in value:
            check(item, path)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            check(getattr(value, field.name), field.name)
    else:
        raise ToolError.invalid(f"`{path}`: the host takes no {type(value).__name__}")
