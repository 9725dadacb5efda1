"""A tool that sends an HTTP request, which the operator granted by method, origin and path."""

from dataclasses import dataclass
from typing import Annotated

from wharf_sdk import Call, Field, Reply, tool


@dataclass
class Fetch:
    url: Annotated[str, Field("What to fetch, such as `https://example.com/`.", max_length=2_000)]


@dataclass
class Fetched:
    status: Annotated[int, "The status that the server answered with."]
    bytes: Annotated[int, "How many bytes it sent."]


@tool(title="Fetch", read_only=True)
def fetch(call: Call, input: Fetch) -> Reply[Fetched]:
    """Fetches an address and tells its status and size."""
    response = call.http.get(input.url)
    fetched = Fetched(response.status, len(response.body))
    return Reply(f"{input.url} answered {fetched.status} with {fetched.bytes} bytes.", fetched)
