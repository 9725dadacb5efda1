"""Bounds of a `Field`, in a schema and as a check."""

from __future__ import annotations

from ..errors import ToolError
from ..fields import ALL_BOUNDS, Field
from .base import Json


def bounds_schema(field: Field, words: dict[str, str]) -> dict[str, Json]:
    """The bounds that a field has, by the words of JSON Schema."""
    named = {word: getattr(field, attribute) for attribute, word in words.items()}
    return {word: bound for word, bound in named.items() if bound is not None}


def check_bounds(path: str, size: float, minimum: float | None, maximum: float | None, unit: str) -> None:
    """Fails with `invalid`, naming the bound, where `size` is outside."""
    if minimum is not None and size < minimum:
        raise ToolError.invalid(f"{path}: at least {minimum} {unit}".rstrip())
    if maximum is not None and size > maximum:
        raise ToolError.invalid(f"{path}: at most {maximum} {unit}".rstrip())


def only(field: Field, words: dict[str, str], kind: str) -> None:
    """Fails where a field has a bound that this kind of value does not have: it would bound nothing."""
    for attribute in ALL_BOUNDS:
        if getattr(field, attribute) is not None and attribute not in words:
            raise TypeError(f"`{attribute}` bounds no {kind}")
