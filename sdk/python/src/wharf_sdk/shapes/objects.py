"""Dataclasses."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, get_type_hints

from ..errors import ToolError
from .base import Definitions, Json, Shape, below, mismatch, refuse
from .described import Described

_namesakes: dict[str, list[type[Any]]] = {}
"""Classes that have a definition, by their names."""


@dataclass(frozen=True)
class Member:
    """One field of a dataclass."""

    attribute: str
    shape: Shape
    required: bool
    default: Any = dataclasses.MISSING


class Object(Shape):
    """A dataclass. Members that it does not have are refused."""

    kinds = frozenset({"object"})

    def __init__(self, type_: type[Any], shape_of: Callable[[Any], Shape]) -> None:
        self.type = type_
        self._shape_of = shape_of
        self._fields: dict[str, Member] | None = None

    @property
    def fields(self) -> dict[str, Member]:
        """Its fields by their names in JSON. Read late, since a dataclass may contain itself."""
        if self._fields is None:
            try:
                hints = get_type_hints(self.type, include_extras=True)
            except NameError as error:
                raise TypeError(f"{self.type.__name__}: {error}; define its types at the top of a module") from None
            fields: dict[str, Member] = {}
            for field in dataclasses.fields(self.type):
                name, member = self._read(field, hints[field.name])
                if name in fields:
                    raise TypeError(f"{self.type.__name__}: two fields are `{name}`")
                fields[name] = member
            self._fields = fields
        return self._fields

    def _read(self, field: dataclasses.Field[Any], hint: Any) -> tuple[str, Member]:
        where = f"{self.type.__name__}.{field.name}"
        if not field.init:
            raise TypeError(f"{where}: a field without `init` cannot be given")
        try:
            shape = self._shape_of(hint)
        except TypeError as error:
            raise TypeError(f"{where}: {error}") from None
        name = shape.name if isinstance(shape, Described) and shape.name else field.name
        if name.startswith("__"):
            raise TypeError(f"{where}: names that start with two underscores are the host's")
        missing = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        return name, Member(field.name, shape, missing, field.default)

    def member(self, name: str) -> Shape:
        """The shape of a field, without its description."""
        shape = self.fields[name].shape
        return shape.shape if isinstance(shape, Described) else shape

    def parts(self) -> Iterator[Shape]:
        return (member.shape for member in self.fields.values())

    def schema(self, definitions: Definitions) -> dict[str, Json]:
        if not self._recursive():
            return self.body(definitions)
        name = self._definition_name()
        if name not in definitions:
            definitions[name] = {}
            definitions[name] = self.body(definitions)
        return {"$ref": f"#/$defs/{name}"}

    def body(self, definitions: Definitions) -> dict[str, Json]:
        """The schema itself, also of a dataclass that contains itself."""
        properties: dict[str, Json] = {}
        for name, member in self.fields.items():
            properties[name] = member.shape.schema(definitions)
            if member.default is not dataclasses.MISSING and member.default is not None:
                properties[name] = {**properties[name], "default": member.shape.encode(member.default, name)}
        schema: dict[str, Json] = {"type": "object", "properties": properties}
        required = [name for name, member in self.fields.items() if member.required]
        if required:
            schema["required"] = required
        schema["additionalProperties"] = False
        documentation = description_of(self.type)
        return {"description": documentation, **schema} if documentation else schema

    def _definition_name(self) -> str:
        """The name of its class, with a number where another class has that name, too."""
        namesakes = _namesakes.setdefault(self.type.__name__, [])
        if self.type not in namesakes:
            namesakes.append(self.type)
        position = namesakes.index(self.type)
        return f"{self.type.__name__}{position + 1}" if position else self.type.__name__

    def _recursive(self) -> bool:
        seen: set[int] = set()
        waiting = list(self.parts())
        while waiting:
            shape = waiting.pop()
            if shape is self:
                return True
            if id(shape) not in seen:
                seen.add(id(shape))
                waiting.extend(shape.parts())
        return False

    def decode(self, value: Json, path: str) -> Any:
        if not isinstance(value, dict):
            raise refuse(path, "an object", value)
        for name in value:
            if name not in self.fields:
                known = ", ".join(f"`{known}`" for known in self.fields) or "none"
                raise ToolError.invalid(f"{below(path, str(name)[:64])}: there is no such member; there is {known}")
        arguments: dict[str, Any] = {}
        for name, member in self.fields.items():
            if name in value:
                arguments[member.attribute] = member.shape.decode(value[name], below(path, name))
            elif member.required:
                raise ToolError.invalid(f"{below(path, name)}: missing")
        try:
            return self.type(**arguments)
        except ValueError as error:
            # What `__post_init__` refuses.
            raise ToolError.invalid(f"{path or 'the arguments'}: {error}") from None

    def encode(self, value: Any, path: str) -> Json:
        if not isinstance(value, self.type):
            raise mismatch(path, self.type.__name__, value)
        return {
            name: member.shape.encode(getattr(value, member.attribute), below(path, name))
            for name, member in self.fields.items()
        }


def description_of(type_: type[Any]) -> str | None:
    """The documentation of a dataclass, unless `dataclass` made it."""
    text = type_.__doc__
    if not text or text.startswith(f"{type_.__name__}("):
        return None
    return " ".join(text.split())
