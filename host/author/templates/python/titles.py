"""A tool that opens a web page, of an origin that the operator granted."""

from dataclasses import dataclass
from typing import Annotated

from wharf_sdk import Call, Field, Reply, tool


@dataclass
class Address:
    url: Annotated[str, Field("The address of the page, such as `https://example.com/`.", max_length=2_000)]


@dataclass
class Title:
    title: Annotated[str, "What the page calls itself."]


@tool(title="Read a title", read_only=True)
def page_title(call: Call, input: Address) -> Reply[Title]:
    """Tells the title of a web page."""
    page = call.web_pages.open().id
    try:
        call.web_pages.navigate(page, input.url)
        title = str(call.web_pages.run(page, "document.title"))
    finally:
        call.web_pages.close(page)
    return Reply(title, Title(title))
