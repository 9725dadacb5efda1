"""`@tool`: a function with typed input and output is a tool."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, ParamSpec, TypeVar, get_args, get_origin, overload

from .answer import Answer, Content, Reply
from .call import Call
from .errors import ToolError
from .rounds import InputRequired
from .shapes import Json, Object, root_schema, shape_of, write_json
from .signature import Nothing, Signature, documentation, read_signature

P = ParamSpec("P")
R = TypeVar("R")

MAXIMUM_SCHEMA_BYTES = 65_536


@dataclass(frozen=True)
class Tool(Generic[P, R]):
    """A tool. Called like the function that it was made of."""

    function: Callable[P, R]
    name: str
    description: str
    meta: dict[str, Json]
    signature: Signature
    output: Object | None
    """The dataclass of its structured answers."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.function(*args, **kwargs)

    def input_schema(self) -> dict[str, Json]:
        """JSON Schema (2020-12) of the arguments."""
        return root_schema(self.signature.input or _NOTHING)

    def output_schema(self) -> dict[str, Json] | None:
        """JSON Schema of the structured answer, if there is one."""
        return None if self.output is None else root_schema(self.output)

    def run(self, call: Call, arguments: str) -> Answer:
        """Runs it on the JSON text of its arguments. Errors: what it raises; `invalid` for what does not fit."""
        return self._answer(self.signature.call(call, arguments))

    def _answer(self, result: Any) -> Answer:
        if isinstance(result, Answer):
            return result
        if isinstance(result, InputRequired):
            return Answer(meta=result.meta())
        if isinstance(result, str):
            return Answer([Content.text(result)])
        text, value = (result.text, result.structured) if isinstance(result, Reply) else (None, result)
        if self.output is None:
            raise ToolError.internal(f"`{self.name}` returned {type(result).__name__}, which it does not declare")
        try:
            structured = self.output.encode(value, "")
            return Answer([Content.text(write_json(structured) if text is None else text)], structured)
        except (TypeError, ValueError, RecursionError) as error:
            raise ToolError.internal(f"the answer of `{self.name}` does not fit its type: {error}") from None


_NOTHING = Object(Nothing, shape_of)


@overload
def tool(function: Callable[P, R], /) -> Tool[P, R]: ...


@overload
def tool(
    *,
    title: str | None = ...,
    name: str | None = ...,
    description: str | None = ...,
    read_only: bool | None = ...,
    destructive: bool | None = ...,
    idempotent: bool | None = ...,
    open_world: bool | None = ...,
    timeout_milliseconds: int | None = ...,
) -> Callable[[Callable[P, R]], Tool[P, R]]: ...


def tool(
    function: Callable[P, R] | None = None,
    /,
    *,
    title: str | None = None,
    name: str | None = None,
    description: str | None = None,
    read_only: bool | None = None,
    destructive: bool | None = None,
    idempotent: bool | None = None,
    open_world: bool | None = None,
    timeout_milliseconds: int | None = None,
) -> Tool[P, R] | Callable[[Callable[P, R]], Tool[P, R]]:
    """Makes a tool of `f(call: Call, input: Input) -> Output`; `call` and `input` may be left out.

    `Input` is a dataclass. `Output` is a dataclass, `Reply[dataclass]`, `str`,
    `Answer`, or a union of one of these with `InputRequired`. The docstring is the
    description. The hints are those of the Model Context Protocol; left out, they
    say nothing. `timeout_milliseconds` is the wall-clock time that a call may need:
    30,000 where it is left out.

    Raises `TypeError`, naming the function, for what cannot be a tool.
    """
    if timeout_milliseconds is not None and timeout_milliseconds < 1:
        raise TypeError("timeout_milliseconds: at least 1")
    hints: dict[str, Json] = {
        "readOnlyHint": read_only,
        "destructiveHint": destructive,
        "idempotentHint": idempotent,
        "openWorldHint": open_world,
    }
    annotations = {hint: value for hint, value in hints.items() if value is not None}
    meta: dict[str, Json] = {"title": title, "annotations": annotations, "timeoutMilliseconds": timeout_milliseconds}

    def make(function: Callable[P, R]) -> Tool[P, R]:
        signature = read_signature(function)
        made = Tool(
            function,
            name or function.__name__,
            documentation(function, description),
            {member: value for member, value in meta.items() if value},
            signature,
            _output(function.__name__, signature.returns),
        )
        # Written now, so that what cannot be listed fails where it is defined.
        for schema in (made.input_schema(), made.output_schema()):
            if schema is not None and len(write_json(schema).encode()) > MAXIMUM_SCHEMA_BYTES:
                raise TypeError(f"{function.__name__}: a schema has more than {MAXIMUM_SCHEMA_BYTES} bytes")
        return made

    return make if function is None else make(function)


def _output(name: str, returns: Any) -> Object | None:
    """The dataclass that is the structure of an answer."""
    members = list(get_args(returns)) if get_origin(returns) in (typing.Union, types.UnionType) else [returns]
    answers = [member for member in members if member is not InputRequired]
    if len(answers) == 1:
        (answer,) = answers
        if answer is str or answer is Answer:
            return None
        structured = get_args(answer)[0] if get_origin(answer) is Reply else answer
        if isinstance(structured, type) and dataclasses.is_dataclass(structured):
            shape = shape_of(structured)
            return shape if isinstance(shape, Object) else None
    raise TypeError(f"{name}: return a dataclass, Reply[dataclass], str, Answer, or one of these or InputRequired")
