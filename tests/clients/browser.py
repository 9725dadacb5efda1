"""The browser plugin, as an agent uses it: a task over several pages of a site that is served here."""

from __future__ import annotations

import base64
import re
import shutil
from pathlib import Path
from typing import Any

from mcp import Client

from harness import CheckFailed, Host, Report, call, context, refused, shorten, text_of
from site_of_harbour import Site

PROGRAMS = ("chromium-headless-shell", "chromium", "google-chrome-stable")

GRANTS = """\
[plugin.browser.grants.webview]
reason = "the office's own site"
origins = ["{origin}"]
private_addresses = true
downloads = true
uploads = true
[plugin.browser.grants.workspace]
reason = "where downloads go"
[plugin.workspace.grants.workspace]
reason = "where downloads go"
"""


class Browser:
    """One session's pages over a connection."""

    def __init__(self, client: Client, meta: dict[str, Any]) -> None:
        self.client, self.meta = client, meta

    async def use(self, tool: str, **arguments: Any) -> tuple[dict[str, Any], str]:
        """What a tool answers for programs, and what the model reads."""
        result = await call(self.client, f"browser__{tool}", arguments, self.meta)
        if not isinstance(result.structured_content, dict):
            raise CheckFailed(f"{tool} has no structured answer: {shorten(text_of(result))}")
        return result.structured_content, text_of(result)

    async def refused(self, tool: str, **arguments: Any) -> tuple[str, str]:
        return await refused(self.client, f"browser__{tool}", arguments, self.meta)

    async def reference(self, line: str) -> str:
        """The reference in the line of a snapshot that begins so."""
        shown, _ = await self.use("get_snapshot", max_bytes=100_000)
        found = re.search(rf"^\s*- {re.escape(line)}.*?\[ref=(\w+)\]", shown["text"], re.MULTILINE)
        if found is None:
            raise CheckFailed(f"no line of the snapshot begins with {line}: {shorten(shown['text'])}")
        return found.group(1)


def granted(directory: Path, origin: str) -> Path:
    file = directory / "browser.toml"
    file.write_text(GRANTS.format(origin=origin), encoding="utf-8")
    return file


async def off(report: Report, host: Host, era: str) -> None:
    async with host.client(era) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        holds = not any(name.startswith("browser__") for name in names)
        report.check(holds, f"{era}: without a grant there is no tool that opens pages", names)


async def tasks(report: Report, host: Host, era: str) -> None:
    """A task over several pages, a form with all kinds of fields, and what stands in the way."""
    if not any(shutil.which(program) for program in PROGRAMS):
        report.check(True, f"{era}: NOT TESTED: there is no Chromium on this machine")
        return
    with Site() as site:
        file = granted(host.data.parent, site.address)
        async with host.client(era, "--config", str(file)) as client:
            browser = Browser(client, context(f"{era}-browser", "clerk", "one"))
            await orders(report, browser, site, era)
            await form(report, browser, site, era)
            await obstacles(report, browser, site, era)
            await apart(report, browser, site, era)


async def orders(report: Report, browser: Browser, site: Site, era: str) -> None:
    """Login, table, dialog, slow part, download."""
    moved, text = await browser.use("navigate", url=f"{site.address}/old")
    found = (moved["http_status"], moved["url"], moved["title"])
    holds = found == (200, f"{site.address}/login", "Harbour office: sign in") and moved["redirects"] >= 2
    report.check(holds, f"{era}: an address leads through its redirects to the login", (moved, text))

    fields = [{"element": "text=Name", "value": "ada"}, {"element": "text=Password", "value": "wrong"}]
    await browser.use("fill", fields=fields)
    await browser.use("click", element="form button")
    content, _ = await browser.use("get_page_content")
    report.check("Unknown name or wrong password" in content["text"], f"{era}: a wrong password is told by the page", content)
    name, password = await browser.reference('textbox "Name"'), await browser.reference('textbox "Password"')
    filled, text = await browser.use(
        "fill", fields=[{"element": name, "value": "ada"}, {"element": password, "value": "lovelace"}]
    )
    holds = [field["value"] for field in filled["fields"]] == ["ada", "••••"] and "lovelace" not in text
    report.check(holds, f"{era}: a form is filled by references, and no password is told", text)
    stale = name
    pressed, text = await browser.use("press_key", key="Enter", element=password)
    report.check(pressed["url"] == f"{site.address}/orders", f"{era}: Enter signs in, and the next page is waited for", text)
    _, text = await browser.refused("click", element=stale)
    report.check("of a page that is gone" in text, f"{era}: a reference of the page before is told to be one", text)

    waited, _ = await browser.use("wait_for", text="berths are taken")
    content, _ = await browser.use("get_page_content")
    report.check("| Number | Ship |" not in waited["came"] and "berths are taken" in content["text"], f"{era}: a part that comes later is waited for", content)
    report.check("| 101 | Albatross |" in content["text"], f"{era}: a table is read as one", content["text"])
    await browser.use("click", element="text=Next")
    shown, _ = await browser.use("get_snapshot")
    holds = "106" in shown["text"] and "Page 2 of 3" in shown["text"] and '"Albatross"' not in shown["text"]
    report.check(holds, f"{era}: a table is paged", shown["text"])

    cancelled, text = await browser.use("click", element="text=Cancel order 107")
    report.check(
        cancelled["dialog"]["kind"] == "confirm" and "Cancel order 107 of Gannet?" in text and "handle_dialog" in text,
        f"{era}: a dialog is told with the click that opened it",
        text,
    )
    _, text = await browser.refused("get_snapshot")
    report.check(text.startswith("conflict") and "Gannet" in text, f"{era}: nothing goes on until it is answered", text)
    await browser.use("handle_dialog", accept=False)
    report.check(site.orders[6]["status"] == "open", f"{era}: a dialog is dismissed", site.orders[6])
    await browser.use("click", element="text=Cancel order 107")
    await browser.use("handle_dialog", accept=True)
    await browser.use("wait_for", element="[aria-label='Cancel order 107']:disabled")
    await browser.use("click", element="text=Next")
    await browser.use("click", element="text=Previous")
    content, _ = await browser.use("get_page_content")
    holds = site.orders[6]["status"] == "cancelled" and re.search(r"107 \| Gannet \| \d+ \| cancelled", content["text"])
    report.check(bool(holds), f"{era}: and accepted, and the page shows what came of it", content["text"])

    await browser.use("click", element="text=Download all orders")
    listed, text = await browser.use("list_downloads", wait_seconds=30)
    path = listed["entries"][0]["path"] if listed["entries"] else ""
    read = await call(browser.client, "workspace__read_file", {"path": path}, browser.meta)
    report.check("107,Gannet" in text_of(read), f"{era}: a download is a file of the workspace", (text, text_of(read)))
    logged, text = await browser.use("get_console", level="errors")
    report.check("The tide table is missing" in text, f"{era}: what a page complains of is told", logged)
    logged, text = await browser.use("get_network", url="/orders.json")
    report.check("-> 200" in text, f"{era}: and what it loads", logged)
    clicked, text = await browser.use("click", element="text=Help")
    report.check(clicked["title"] == "Harbour office: help", f"{era}: a link to a new window opens in the page", text)
    moved, _ = await browser.use("back")
    report.check(moved["url"] == f"{site.address}/orders", f"{era}: and back leads back", moved)


async def form(report: Report, browser: Browser, site: Site, era: str) -> None:
    """All kinds of fields, a frame and an upload."""
    _, text = await browser.use("navigate", url=f"{site.address}/form", snapshot=True)
    report.check('button "Show the tide" [ref=' in text, f"{era}: a frame of the same origin is part of the snapshot", text)
    await call(browser.client, "workspace__write_file", {"path": "papers.txt", "content": "all in order"}, browser.meta)
    fields = {
        "#ship": "Årø 항구",
        "text=Captain's e-mail": "captain@quay.test",
        "text=Crew": "12",
        "text=Arrival": "2026-12-31",
        "text=Flag": "Norway",
        "text=up to 20 m": "true",
        "text=A pilot is needed": "true",
        "text=Draught": "7",
        "text=Remarks": "two lines\nof it",
        "text=Note for the pilot": "come early",
    }
    filled, text = await browser.use("fill", fields=[{"element": name, "value": value} for name, value in fields.items()])
    report.check(len(filled["fields"]) == len(fields), f"{era}: all kinds of fields are filled in one call", text)
    await browser.use("select_option", element="text=Cargo", options=["Salt", "Herring"])
    await browser.use("upload_file", element="text=Papers", paths=["papers.txt"])
    await browser.use("click", element="text=Show the tide")
    waited, _ = await browser.use("wait_for", text="High water at 14:20")
    report.check("High water" in waited["came"], f"{era}: a button in a frame is clicked", waited)
    picture = await call(browser.client, "browser__screenshot", {}, browser.meta)
    images = [block for block in picture.content if block.type == "image"]
    holds = len(images) == 1 and images[0].mime_type == "image/png" and base64.b64decode(images[0].data).startswith(b"\x89PNG")
    report.check(holds, f"{era}: a screenshot is a picture of the protocol", picture.structured_content)
    printed, _ = await browser.use("pdf", path="prints/form.pdf")
    report.check(printed["bytes"] > 1_000, f"{era}: a page is printed into the workspace", printed)
    clicked, text = await browser.use("click", element='button[type="submit"]')
    content, _ = await browser.use("get_page_content", format="text")
    expected = [
        "ship: Årø 항구", "email: captain@quay.test", "crew: 12", "arrival: 2026-12-31", "flag: no", "cargo: Salt",
        "cargo: Herring", "length: short", "pilot: on", "draught: 7", "note: come early", "papers: papers.txt (12 bytes)",
    ]
    missing = [line for line in expected if line not in content["text"]]
    report.check(not missing, f"{era}: and what was filled is what was sent", (missing, content["text"], text))


async def obstacles(report: Report, browser: Browser, site: Site, era: str) -> None:
    """What keeps a person from clicking keeps the tools, too, and is told."""
    await browser.use("navigate", url=f"{site.address}/covered")
    _, text = await browser.refused("click", element="#under")
    report.check("covered by" in text and "Cookies" in text, f"{era}: what covers an element is named", text)
    _, text = await browser.refused("click", element="#fra")
    report.check("no element matches `#fra`" in text and "button" in text, f"{era}: what is there instead is named", text)
    _, text = await browser.refused("click", element="#hidden")
    report.check("cannot be seen" in text, f"{era}: what nobody sees is not clicked", text)
    await browser.use("click", element="text=Accept all")
    for element in ("#later", "#far", "#under", "text=In the shadow"):
        await browser.use("click", element=element)
        said, _ = await browser.use("evaluate", script="document.getElementById('said').textContent")
        word = "shadow" if element.startswith("text=") else element[1:]
        report.check(said["result"] == f'"{word}"', f"{era}: {element} is clicked once it can be", said)
    _, text = await browser.refused("evaluate", script="while (true) {}", timeout_seconds=1)
    report.check(text.startswith("timeout"), f"{era}: a script without an end is ended", text)
    said, _ = await browser.use("evaluate", script="1 + 1")
    report.check(said["result"] == "2", f"{era}: and the page goes on", said)
    _, text = await browser.refused("navigate", url="http://localhost.example.test/")
    report.check(text.startswith("denied"), f"{era}: what is not granted is not reached", text)
    _, text = await browser.refused("navigate", url="file:///etc/passwd")
    report.check(text.startswith(("denied", "invalid")), f"{era}: files are not read", text)


async def apart(report: Report, browser: Browser, site: Site, era: str) -> None:
    """Sessions see nothing of each other."""
    listed, _ = await browser.use("list_sessions")
    session = listed["sessions"][0]["session"]
    stranger = Browser(browser.client, context(f"{era}-stranger", "clerk", "one"))
    _, text = await stranger.refused("get_snapshot", session=session)
    report.check(text.startswith("not-found"), f"{era}: a page of another session is not there", text)
    moved, _ = await stranger.use("navigate", url=f"{site.address}/orders")
    report.check(moved["url"].endswith("/login"), f"{era}: and its login is not, either", moved)
    for one in (browser, stranger):
        for open_page in (await one.use("list_sessions"))[0]["sessions"]:
            await one.use("close_session", session=open_page["session"])
    _, text = await browser.refused("get_snapshot")
    report.check("navigate opens one" in text, f"{era}: sessions are closed", text)
