"""What the annotations of a tool or prompt say: whether it takes the call, which input, and what it returns."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_type_hints

from .call import Call
from .errors import ToolError
from .shapes import Object, read_json, shape_of


@dataclass(frozen=True)
class Signature:
    """A function of one of the forms `f(call, input)`, `f(call)`, `f(input)` and `f()`."""

    function: Callable[..., Any]
    takes_call: bool
    input: Object | None
    returns: Any

    def call(self, call: Call, arguments: str) -> Any:
        """Decodes the JSON text of the arguments and calls the function. `invalid` where they do not fit."""
        try:
            value = read_json(arguments, "the arguments")
            decoded = _NOTHING.decode(value, "") if self.input is None else self.input.decode(value, "")
        except RecursionError:
            raise ToolError.invalid("the arguments are nested too deeply") from None
        given = [call] if self.takes_call else []
        return self.function(*given, *([] if self.input is None else [decoded]))


@dataclass(frozen=True)
class Nothing:
    """The input of a function that takes none."""


_NOTHING = Object(Nothing, shape_of)


def read_signature(function: Callable[..., Any]) -> Signature:
    """Reads a function's annotations. `TypeError`, naming the function, where it has another form."""
    name = getattr(function, "__name__", repr(function))
    try:
        hints = get_type_hints(function, include_extras=True)
    except NameError as error:
        raise TypeError(f"{name}: {error}; define its types at the top of a module") from None
    if inspect.iscoroutinefunction(function):
        raise TypeError(f"{name}: a plugin runs one call at a time and has no event loop; write `def`")
    parameters = list(inspect.signature(function).parameters)
    missing = [parameter for parameter in [*parameters, "return"] if parameter not in hints]
    if missing:
        raise TypeError(f"{name}: annotate {', '.join(missing)}")
    types = [hints[parameter] for parameter in parameters]
    takes_call = types[:1] == [Call]
    rest = types[1:] if takes_call else types
    if len(rest) > 1 or (rest and not (isinstance(rest[0], type) and dataclasses.is_dataclass(rest[0]))):
        raise TypeError(f"{name}: write {name}(call: Call, input: Input); Input is a dataclass, either may be left out")
    shape = shape_of(rest[0]) if rest else None
    return Signature(function, takes_call, shape if isinstance(shape, Object) else None, hints["return"])


def documentation(function: Callable[..., Any], description: str | None) -> str:
    """The description: as given, or the documentation of the function. 1 to 8,192 bytes."""
    text = (description or inspect.getdoc(function) or "").strip()
    name = getattr(function, "__name__", repr(function))
    if not text:
        raise TypeError(f"{name}: say in its docstring what it does and when to use it")
    if len(text.encode()) > 8_192:
        raise TypeError(f"{name}: the description has more than 8,192 bytes")
    return text
