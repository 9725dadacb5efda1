"""Types as JSON sees them: from annotations to JSON Schema 2020-12, and values to JSON and back.

It knows nothing of tools. `shape_of` reads an annotation once; the shape then
writes the schema, decodes and encodes, so that the three cannot disagree.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import types
import typing
from typing import Annotated, Any, Literal, get_args, get_origin

from ..errors import ToolError
from ..fields import ARRAY_BOUNDS, NUMBER_BOUNDS, OBJECT_BOUNDS, TEXT_BOUNDS, Field
from .base import Definitions, Json, Shape
from .bounds import only
from .containers import Array, Table
from .described import Described
from .objects import Object
from .scalars import AnyValue, Boolean, Choice, Null, Number, Text
from .unions import Union

__all__ = ["Json", "Object", "Shape", "read_json", "root_schema", "shape_of", "write_json"]

_objects: dict[type[Any], Object] = {}

PLAIN = Field()


def shape_of(hint: Any) -> Shape:
    """The shape of an annotation.

    Raises `TypeError`, naming the annotation, for what JSON cannot have.
    """
    field = PLAIN
    if get_origin(hint) is Annotated:
        hint, *marks = get_args(hint)
        for mark in marks:
            field = _mark(field, mark)
    shape = _plain_shape(hint, field)
    if field.description is None and field.name is None:
        return shape
    return Described(shape, field.description, field.name)


def _mark(field: Field, mark: Any) -> Field:
    """Adds one mark of `Annotated`. Marks of other libraries say nothing here."""
    if isinstance(mark, str):
        return dataclasses.replace(field, description=mark)
    if isinstance(mark, Field):
        given = {name: value for name, value in vars(mark).items() if value is not None}
        return dataclasses.replace(field, **given)
    return field


def _plain_shape(hint: Any, field: Field) -> Shape:
    if hint is str:
        only(field, TEXT_BOUNDS, "text")
        return Text(field)
    if hint is int or hint is float:
        only(field, NUMBER_BOUNDS, "number")
        return Number(field, integer=hint is int)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is list or (origin is tuple and arguments[1:] == (...,)):
        only(field, ARRAY_BOUNDS, "array")
        return Array(field, shape_of(arguments[0]), origin)
    if origin is dict and arguments[0] is str:
        only(field, OBJECT_BOUNDS, "dictionary")
        return Table(field, shape_of(arguments[1]))
    if origin in (typing.Union, types.UnionType):
        # The bounds are those of the one member that is not None, as in `Annotated[int | None, Field(minimum=1)]`.
        inner = dataclasses.replace(field, description=None, name=None)
        single = sum(member is not types.NoneType for member in arguments) == 1
        members = [_member(member, inner if single else PLAIN) for member in arguments]
        return Union(str(hint), members)
    only(field, {}, "value of this type")
    if hint is bool:
        return Boolean()
    if hint is None or hint is types.NoneType:
        return Null()
    if hint is Any:
        return AnyValue()
    if origin is Literal:
        if None in arguments:
            return Union(str(hint), [Choice(str(hint), {a: a for a in arguments if a is not None}), Null()])
        return Choice(str(hint), {argument: argument for argument in arguments})
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return Choice(hint.__name__, {member.value: member for member in hint})
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        # One object a dataclass, so that one that contains itself can be found.
        return _objects.setdefault(hint, Object(hint, shape_of))
    raise TypeError(
        f"{hint!r} has no JSON: use str, int, float, bool, None, Any, list[…], tuple[…, ...], dict[str, …], "
        "Literal, an Enum, a dataclass or a union of these"
    )


def _member(hint: Any, field: Field) -> Shape:
    if hint is types.NoneType:
        return Null()
    if field == PLAIN or get_origin(hint) is Annotated:
        return shape_of(hint)
    return shape_of(Annotated[hint, field])


def root_schema(shape: Object) -> dict[str, Json]:
    """The schema of a dataclass as a whole: its `type` is `object`, whatever it contains."""
    definitions: Definitions = {}
    schema = shape.body(definitions)
    # What a tool is for stands in the tool's description.
    schema.pop("description", None)
    return {**schema, "$defs": definitions} if definitions else schema


def read_json(text: str, what: str) -> Json:
    """JSON of a text; `invalid` where it is none. NaN and infinity are none."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ToolError.invalid(f"{what}: no JSON: {type(error).__name__}: {error}") from None


def _refuse_constant(word: str) -> Json:
    raise ValueError(f"{word} is no JSON")


def write_json(value: Json) -> str:
    """The text of a JSON value. Raises `TypeError` or `ValueError` for what is none, or no UTF-8."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    text.encode()
    return text
