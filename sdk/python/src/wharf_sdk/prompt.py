"""`@prompt`: a text that a person chooses in the client."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, ParamSpec, TypeVar, overload

from .answer import Content
from .call import Call
from .errors import ToolError
from .rounds import InputRequired
from .shapes import Json, Object
from .signature import Signature, documentation, read_signature

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class PromptReply:
    """The messages of a prompt, at most 256. `user` and `assistant` return a longer one."""

    messages: list[tuple[Literal["user", "assistant"], Content]] = field(default_factory=list)
    description: str | None = None
    """What it is, where that is known only now. At most 8,192 bytes."""
    meta: dict[str, Json] = field(default_factory=dict)

    def user(self, content: Content | str) -> PromptReply:
        """Adds what the person says."""
        return PromptReply([*self.messages, ("user", _content(content))], self.description, self.meta)

    def assistant(self, content: Content | str) -> PromptReply:
        """Adds what the model says."""
        return PromptReply([*self.messages, ("assistant", _content(content))], self.description, self.meta)


def _content(content: Content | str) -> Content:
    return Content.text(content) if isinstance(content, str) else content


@dataclass(frozen=True)
class Argument:
    """One value that a prompt takes."""

    name: str
    description: str
    required: bool


@dataclass(frozen=True)
class Prompt(Generic[P, R]):
    """A prompt. Called like the function that it was made of."""

    function: Callable[P, R]
    name: str
    description: str
    meta: dict[str, Json]
    signature: Signature
    arguments: list[Argument]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.function(*args, **kwargs)

    def run(self, call: Call, arguments: str) -> PromptReply:
        """Makes the prompt of the JSON text of its arguments."""
        result: Any = self.signature.call(call, arguments)
        if isinstance(result, PromptReply):
            return result
        if isinstance(result, InputRequired):
            return PromptReply(meta=result.meta())
        if isinstance(result, str):
            return PromptReply().user(result)
        raise ToolError.internal(f"the prompt `{self.name}` returned {type(result).__name__}")


@overload
def prompt(function: Callable[P, R], /) -> Prompt[P, R]: ...


@overload
def prompt(
    *, title: str | None = ..., name: str | None = ..., description: str | None = ...
) -> Callable[[Callable[P, R]], Prompt[P, R]]: ...


def prompt(
    function: Callable[P, R] | None = None,
    /,
    *,
    title: str | None = None,
    name: str | None = None,
    description: str | None = None,
) -> Prompt[P, R] | Callable[[Callable[P, R]], Prompt[P, R]]:
    """Makes a prompt of a function that returns `str`, `PromptReply` or `InputRequired`.

    Its input is a dataclass of at most 32 texts, each `str` or `str | None`.
    Raises `TypeError`, naming the function, for what cannot be a prompt.
    """

    def make(function: Callable[P, R]) -> Prompt[P, R]:
        signature = read_signature(function)
        arguments = [] if signature.input is None else _arguments(function.__name__, signature.input)
        text = documentation(function, description)
        meta = {"title": title} if title else {}
        return Prompt(function, name or function.__name__, text, meta, signature, arguments)

    return make if function is None else make(function)


def _arguments(name: str, shape: Object) -> list[Argument]:
    arguments = []
    for argument, member in shape.fields.items():
        schema = member.shape.schema({})
        if schema.get("type") not in ("string", ["string", "null"]):
            raise TypeError(f"{name}: the argument `{argument}` of a prompt is a text")
        arguments.append(Argument(argument, str(schema.get("description", "")), member.required))
    if len(arguments) > 32:
        raise TypeError(f"{name}: a prompt has at most 32 arguments")
    # Those that are needed are asked for first.
    return sorted(arguments, key=lambda argument: not argument.required)
