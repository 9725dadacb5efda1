"""Attacks, and what the conformance suite looks for, by the names of the guests in Rust (`tests/guests`).

The same tests call them in every language: `tests/tests/end_to_end/languages`.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from wharf_sdk import (
    Answer,
    Bucket,
    Call,
    Completions,
    Content,
    Field,
    InputRequired,
    Reply,
    Resource,
    ResourcePart,
    Scope,
    ToolError,
    Typed,
    plugin,
    prompt,
    tool,
)


@dataclass
class Bytes:
    bytes: int


@dataclass
class Number:
    count: int


@dataclass
class Depth:
    depth: int


@dataclass
class Text:
    text: str


@dataclass
class Message:
    message: str


@dataclass
class Structured:
    structured: str


@dataclass
class Meta:
    meta: str


@dataclass
class Failure:
    code: str
    message: str
    retryable: bool = False


@dataclass
class Entry:
    scope: str
    key: str
    value: str


@dataclass
class Key:
    scope: str
    key: str


@dataclass
class Place:
    scope: str
    name: str


def report(found: object) -> str:
    return json.dumps(found)


def refusal(error: ToolError) -> dict[str, Any]:
    return {"code": error.code, "message": error.message, "retryable": error.retryable}


def bucket(call: Call, scope: str, name: str = "hostile") -> Bucket:
    # The host, not the type, has to refuse what is no scope.
    checked: Any = scope
    opened: Scope = checked
    return call.state(opened, name)


@tool
def spin() -> str:
    """Computes for ever."""
    while True:
        pass


@tool
def recurse(input: Depth) -> str:
    """Calls itself so deep."""

    def deeper(depth: int) -> int:
        return 0 if depth == 0 else deeper(depth - 1) + 1

    return report({"depth": deeper(input.depth)})


@tool
def panic(input: Message) -> str:
    """Fails as no author means to."""
    raise RuntimeError(input.message)


@tool
def allocate(input: Bytes) -> str:
    """Takes so much memory, piece by piece."""
    pieces: list[bytearray] = []
    while len(pieces) * 65_536 < input.bytes:
        pieces.append(bytearray(b"x") * 65_536)
    return report({"got": len(pieces) * 65_536})


@tool
def allocate_or_die(input: Bytes) -> str:
    """Takes so much memory in one piece."""
    return report({"got": len(bytearray(b"x") * input.bytes)})


@tool
def output(input: Bytes) -> str:
    """Answers one text of so many bytes."""
    return "x" * input.bytes


@tool
def many_content(input: Number) -> Answer:
    """Answers so many empty parts."""
    return Answer([Content.text("")] * input.count)


@tool
def text(input: Text) -> str:
    """Answers a text, as it stands."""
    return input.text


@tool
def invalid_utf8() -> str:
    """Answers a text that no UTF-8 can have."""
    return "a\ud800z"


@tool
def bad_structured(input: Structured) -> Reply[Number]:
    """Promises an integer `count` and answers this structure."""
    made = Number(0)
    # What no type checker sees.
    vars(made).clear()
    vars(made).update(json.loads(input.structured))
    return Reply("see the structure", made)


@tool
def unpromised_structured(input: Structured) -> Answer:
    """Promises nothing and answers this structure."""
    return Answer([Content.text("see the structure")], json.loads(input.structured))


@tool
def answer_meta(input: Meta) -> Answer:
    """Answers with this meta."""
    return Answer([Content.text("see the meta")], meta=json.loads(input.meta))


@tool
def error(input: Failure) -> str:
    """Fails with this error."""
    raise ToolError(input.code, input.message, input.retryable)


@tool
def open_buckets(call: Call, input: Number) -> str:
    """Opens so many handles and keeps them."""
    opened = []
    for _ in range(input.count):
        try:
            opened.append(bucket(call, "thread"))
        except ToolError as refused:
            return report({"opened": len(opened), "refused": refusal(refused)})
    return report({"opened": len(opened)})


@tool
def open_bucket(call: Call, input: Place) -> str:
    """Opens one bucket of any scope and name."""
    bucket(call, input.scope, input.name)
    return report({"opened": 1})


@tool
def host_calls(call: Call, input: Number) -> str:
    """Makes so many cheap host calls."""
    for _ in range(input.count):
        _ = call.remaining_milliseconds
    return report({"called": input.count})


@tool
def state_put(call: Call, input: Entry) -> str:
    """Writes one entry."""
    return report({"revision": bucket(call, input.scope).put(input.key, input.value.encode())})


@tool
def state_get(call: Call, input: Key) -> str:
    """Reads one entry."""
    entry = bucket(call, input.scope).get(input.key)
    return report({"value": entry and entry.value.decode(), "revision": entry and entry.revision})


@tool
def caller(call: Call) -> str:
    """Says everything that the host says of the caller."""
    return report({"session": call.session, "assistant": call.assistant, "thread": call.thread})


@tool
def log_lines(call: Call, input: Number) -> str:
    """Logs so many lines."""
    for line in range(input.count):
        call.log("info", f"line {line}")
    return report({"logged": input.count})


def sent(count: int, send: Callable[[int], None]) -> str:
    for number in range(count):
        try:
            send(number)
        except ToolError as refused:
            return report({"sent": number, "refused": refusal(refused)})
    return report({"sent": count})


@tool
def progress(call: Call, input: Number) -> str:
    """Sends so many progresses."""
    return sent(input.count, lambda number: call.progress(number + 1, None, "on the way"))


@tool
def message(call: Call, input: Number) -> str:
    """Sends so many messages."""
    return sent(input.count, lambda _: call.message("info", "hello"))


def word(work: Callable[[], object]) -> str:
    try:
        work()
    except ToolError as refused:
        return refused.code
    return "ok"


@tool
def probe_imports(call: Call) -> str:
    """Calls every import once."""

    def written(scope: Scope) -> str:
        return word(lambda: call.state(scope, "n").put("probe", b""))

    return report(
        {
            "state": {"thread": written("thread"), "session": written("session"), "plugin": written("plugin")},
            "process": word(lambda: call.processes.all()),
            "workspace": word(lambda: call.workspace.files()),
            "terminal": word(lambda: call.terminals.all()),
            "webview": word(lambda: call.web_pages.all()),
            "progress": word(lambda: call.progress(0)),
            "message": word(lambda: call.message("info", "a probe")),
            "stream": word(lambda: call.open_stream("a probe")),
        }
    )


def asking(name: str, message: str, field: str) -> InputRequired:
    schema = {"type": "object", "properties": {field: {"type": "string"}}, "required": [field]}
    return InputRequired().form(name, message, schema)


def given(call: Call, name: str, field: str) -> str | None:
    found = (call.input.form(name) or {}).get(field)
    return found if isinstance(found, str) else None


@tool
def test_input_required_result_elicitation(call: Call) -> str | InputRequired:
    """Asks for a name and greets."""
    name = given(call, "user_name", "name")
    return asking("user_name", "What is your name?", "name") if name is None else f"Hello, {name}!"


@tool
def test_input_required_result_multi_round(call: Call) -> str | InputRequired:
    """Asks for a name, and then for a colour."""
    state = call.input.state or ""
    color, name = given(call, "step2", "color"), given(call, "step1", "name")
    if state.startswith("second:") and color is not None:
        return f"Hello, {state.removeprefix('second:')}! Your favorite color is {color}."
    if state == "first" and name is not None:
        return asking("step2", "Step 2: What is your favorite color?", "color").with_state(f"second:{name}")
    return asking("step1", "Step 1: What is your name?", "name").with_state("first")


@dataclass
class Arguments:
    arg1: Annotated[str, Field("First test argument")]
    arg2: Annotated[str, Field("Second test argument")]


@prompt
def test_prompt_with_arguments(input: Arguments) -> str:
    """A text with two arguments."""
    return f"Prompt with arguments: arg1='{input.arg1}', arg2='{input.arg2}'"


TEXT = "test://static-text"


class Fixtures:
    claims = ("test://",)

    def templates(self) -> list[Any]:
        return []

    def read(self, call: Call, uri: str) -> list[ResourcePart]:
        if uri != TEXT:
            raise ToolError.not_found(f"there is no resource `{uri}`")
        return [ResourcePart(uri, Content.text("This is the content of the static text resource."))]

    def list(self, call: Call) -> list[Resource]:
        return [Resource(TEXT, "Static text", "A text that stays the same.", "text/plain")]


def complete(call: Call, typed: Typed) -> Completions:
    words = ["test", "testing", "hello"] if typed.argument == "arg1" else []
    found = [word for word in words if word.startswith(typed.text)]
    return Completions(found, len(found))


PLUGIN = plugin(
    spin,
    recurse,
    panic,
    allocate,
    allocate_or_die,
    output,
    many_content,
    text,
    invalid_utf8,
    bad_structured,
    unpromised_structured,
    answer_meta,
    error,
    open_buckets,
    open_bucket,
    host_calls,
    state_put,
    state_get,
    caller,
    log_lines,
    progress,
    message,
    probe_imports,
    test_input_required_result_elicitation,
    test_input_required_result_multi_round,
    test_prompt_with_arguments,
    reasons=dict.fromkeys(("state", "events", "process", "workspace", "terminal", "webview"), "a test"),
    resources=Fixtures(),
    completion=complete,
)
Tools = PLUGIN.Tools
Prompts = PLUGIN.Prompts
Resources = PLUGIN.Resources
Completion = PLUGIN.Completion
