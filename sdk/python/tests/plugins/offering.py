"""What the examples do not use: prompts, resources, completion, rounds, events, terminals and HTTP."""

from dataclasses import dataclass
from typing import Annotated

from wharf_sdk import (
    Call,
    Completions,
    Content,
    InputRequired,
    Resource,
    ResourcePart,
    ResourceTemplate,
    ToolError,
    Typed,
    plugin,
    prompt,
    tool,
)

LANGUAGES = ["korean", "german", "english"]
CHAPTER = ResourceTemplate("manual://chapters/{name}", "Chapter", "One chapter.", "text/plain")


@dataclass
class Review:
    path: Annotated[str, "The file to look at."]
    language: Annotated[str | None, "In which language."] = None


@dataclass
class Line:
    text: Annotated[str, "What to type, or where to go."]


@dataclass
class Fetched:
    status: int
    body: str


@prompt(title="Review")
def review(input: Review) -> str:
    """Asks for a review of one file."""
    return f"Review {input.path} in {input.language or 'english'}."


@tool(title="Greet")
def greet(call: Call) -> str | InputRequired:
    """Greets the user by name."""
    form = call.input.form("who")
    if form is None:
        fields = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        return InputRequired().form("who", "What is your name?", fields)
    return f"Hello, {form.get('name')}!"


@tool(title="Type into a shell")
def type_line(call: Call, input: Line) -> str:
    """Types one line into a shell and answers what it printed and how it ended."""
    terminals = call.terminals
    id = terminals.start_shell().terminal.id
    text, turn = terminals.answer(id, terminals.submit(id, input.text), 10_000)
    terminals.close(id)
    return f"{text.strip()} ({turn.complete.exit_code if turn.complete else None})"


@tool(title="Fetch")
def fetch(call: Call, input: Line) -> Fetched:
    """Gets what is at an address."""
    response = call.http.get(input.text)
    return Fetched(response.status, response.text())


@tool(title="Work")
def work(call: Call) -> str:
    """Tells how it goes."""
    call.progress(1, 2, "half")
    call.message("info", {"half": True})
    stream = call.open_stream("work")
    stream.say("half")
    stream.advance("end", 100)
    stream.complete()
    call.updated("manual://chapters/bow")
    return "done"


@tool(title="Break")
def break_down() -> str:
    """Fails in a way that nobody expected."""
    raise ZeroDivisionError("no such number")


class Manual:
    claims = ("manual://",)

    def templates(self) -> list[ResourceTemplate]:
        return [CHAPTER]

    def read(self, call: Call, uri: str) -> list[ResourcePart]:
        name = (CHAPTER.variables(uri) or {}).get("name")
        if name != "bow":
            raise ToolError.not_found("there is no such chapter")
        return [ResourcePart(uri, Content.text("Let go forward."))]

    def list(self, call: Call) -> list[Resource]:
        return [Resource("manual://chapters/bow", "Bow", "Casting off.", "text/plain", {"size": 15})]


def complete(call: Call, typed: Typed) -> Completions:
    if (typed.kind, typed.argument) != ("prompt", "language"):
        return Completions()
    found = [language for language in LANGUAGES if language.startswith(typed.text)]
    return Completions(found, len(found))


PLUGIN = plugin(
    review,
    greet,
    type_line,
    fetch,
    work,
    break_down,
    reasons={"terminal": "types for you", "http": "gets what you ask for", "events": "tells how it goes"},
    resources=Manual(),
    completion=complete,
)
Tools = PLUGIN.Tools
Prompts = PLUGIN.Prompts
Resources = PLUGIN.Resources
Completion = PLUGIN.Completion
