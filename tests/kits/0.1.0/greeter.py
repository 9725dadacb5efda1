"""A greeter that counts visits: state, settings, errors."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from wharf_sdk import Call, Field, Reply, ToolError, plugin, tool


@dataclass
class Visit:
    name: Annotated[str, Field("Whom to greet.", min_length=1, max_length=80)]
    language: Annotated[Literal["en", "de", "ko"], "In which language."] = "en"


@dataclass
class Visits:
    count: Annotated[int, "How often this name was greeted in this session."]


@dataclass
class Forget:
    name: Annotated[str, "Whom to forget."]


@dataclass
class Settings:
    """`[plugin.greeter.settings]`."""

    closed: bool = False


WORDS = {"en": "Welcome, {}. Visit {}.", "de": "Willkommen, {}. Besuch {}.", "ko": "{} 님, 환영합니다. 방문 {}회."}


@tool(title="Greet", destructive=False, open_world=False)
def greet(call: Call, input: Visit) -> Reply[Visits]:
    """Greets somebody and counts their visits in this session."""
    if call.settings(Settings).closed:
        raise ToolError("unavailable", "the operator has closed the greeter", retryable=False)

    def one_more(visits: dict[str, Any]) -> dict[str, Any]:
        return {"count": visits["count"] + 1}

    visits = call.state("session", "visits").update(input.name, one_more, default={"count": 0})
    count = visits["count"]
    return Reply(WORDS[input.language].format(input.name, count), Visits(count))


@tool(title="Forget", destructive=True, idempotent=False, open_world=False)
def forget(call: Call, input: Forget) -> str:
    """Forgets the visits of somebody. Fails with `not-found` if they never visited."""
    visits = call.state("session", "visits")
    if visits.get(input.name) is None:
        raise ToolError.not_found(f"{input.name} never visited; greet them first")
    visits.delete(input.name)
    return f"Forgot {input.name}."


PLUGIN = plugin(greet, forget, reasons={"state": "counts visits"})
Tools = PLUGIN.Tools
