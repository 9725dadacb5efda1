"""A tool with durable state: entries of this plugin in the caller's session."""

from dataclasses import dataclass
from typing import Annotated

from wharf_sdk import Call, Field, Reply, tool


@dataclass
class Visit:
    visitor: Annotated[str, Field("Who visits.", min_length=1, max_length=100)]


@dataclass
class Visits:
    count: Annotated[int, "How often this visitor came in this session."]


@tool(title="Count a visit")
def count_visit(call: Call, input: Visit) -> Reply[Visits]:
    """Counts the visits of somebody in this session."""
    visits = call.state("session", "visits")
    # Other calls run at the same time: `update` starts again where one wrote meanwhile.
    count = visits.update(input.visitor, lambda count: count + 1, default=0)
    return Reply(f"Visit {count} of {input.visitor}.", Visits(count))
