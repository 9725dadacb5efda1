"""A page reader: opens a web page and answers its title and text."""

from dataclasses import dataclass
from typing import Annotated, Any

from wharf_sdk import Call, Field, Reply, ToolError, plugin, tool
from wharf_sdk.webview import ScriptOptions

TEXT = "document.body ? document.body.innerText : ''"


@dataclass
class Address:
    url: Annotated[str, Field("The address of the page.", pattern="^https?://", max_length=2_048)]
    characters: Annotated[int, Field("How much of its text is answered.", minimum=1, maximum=100_000)] = 10_000


@dataclass
class Page:
    url: Annotated[str, "Where it came to, after redirects."]
    title: str
    text: str
    status: Annotated[int | None, "The status of HTTP, where there is one."]
    truncated: Annotated[bool, "Whether the page has more text."]


@tool(title="Read a web page", read_only=True, open_world=True, timeout_milliseconds=60_000)
def read_page(call: Call, input: Address) -> Reply[Page]:
    """Opens a web page, lets its scripts run, and answers its title and the text that a person would see."""
    pages = call.web_pages
    id = pages.open().id
    try:
        arrived = pages.navigate(id, input.url)
        # In a world of its own: the page's scripts cannot change what is read.
        text = pages.run(id, TEXT, ScriptOptions(world="isolated"))
    finally:
        pages.close(id)
    if not isinstance(text, str):
        raise ToolError.unavailable("the page has no text")
    return _reply(input, arrived, text)


def _reply(input: Address, arrived: dict[str, Any], text: str) -> Reply[Page]:
    title = str(arrived.get("title", ""))
    shown = text[: input.characters]
    page = Page(str(arrived.get("url", input.url)), title, shown, arrived.get("status"), len(text) > len(shown))
    return Reply(f"{title}\n\n{shown}", page)


PLUGIN = plugin(read_page, reasons={"webview": "opens the pages that it is asked to read"})
Tools = PLUGIN.Tools
