"""A tool that needs nothing of its host."""

from dataclasses import dataclass
from typing import Annotated

from wharf_sdk import Call, Field, Reply, ToolError, tool


@dataclass
class Greet:
    name: Annotated[str, Field("Whom to greet.", min_length=1, max_length=100)]


@dataclass
class Greeted:
    greeting: Annotated[str, "What was said."]


@tool(title="Greet", read_only=True, idempotent=True)
def greet(call: Call, input: Greet) -> Reply[Greeted]:
    """Greets somebody by name. The model reads this to choose the tool."""
    name = input.name.strip()
    if not name:
        raise ToolError.invalid("`name` is blank; say whom to greet")
    greeting = f"Welcome, {name}."
    return Reply(greeting, Greeted(greeting))
