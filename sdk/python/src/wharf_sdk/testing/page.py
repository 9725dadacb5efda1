"""Web pages out of a test's own words. A request has ended when it is first asked for."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from ..errors import ToolError
from ..webview import LogPage, Outcome, PageInfo, ResultPiece
from .world import Context, World, owned

NOW = "2026-01-01T00:00:00Z"


@dataclass(frozen=True)
class WebPage:
    """A page that may be visited."""

    title: str = ""
    values: dict[str, Any] = field(default_factory=dict)
    """What scripts come to, by their text. `document.title` and `location.href` need none; others throw."""
    status: int = 200


@dataclass
class TestPage:
    """An open page."""

    __test__ = False

    owner: Any
    id: str
    url: str = "about:blank"
    shown: WebPage = field(default_factory=WebPage)
    performed: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def info(self) -> PageInfo:
        """It is ready."""
        return PageInfo(self.id, "ready", self.url, self.shown.title, 1280, 800, None, 0, NOW, NOW, None, None)


@dataclass
class TestRequest:
    """A request that has ended."""

    __test__ = False

    owner: Any
    outcome: Outcome


@dataclass(frozen=True)
class WebviewInterface:
    """`webview` of the contract."""

    context: Context
    world: World

    def status(self) -> str:
        return "{}"

    def open(self, options: Any) -> PageInfo:
        page = TestPage(self.context.owner, self.world.id("page"))
        self.world.pages[page.id] = page
        return page.info()

    def list(self) -> Any:
        return [page.info() for page in self.world.pages.values() if page.owner == self.context.owner]

    def get(self, id: str) -> PageInfo:
        return self._page(id).info()

    def close(self, id: str) -> None:
        self._page(id)
        del self.world.pages[id]

    def execute_script(self, id: str, script: str, options: Any) -> str:
        page = self._page(id)
        values = {"document.title": page.shown.title, "location.href": page.url, **page.shown.values}
        if script not in values:
            return self._failed("exception", "the test gave no value for this script")
        return self._done(values[script])

    def perform(self, id: str, operation: str, parameters: str, milliseconds: int) -> str:
        """`navigate` goes to a page of the test; everything else answers `{}` and is kept in `performed`."""
        page, given = self._page(id), json.loads(parameters)
        page.performed.append((operation, given))
        if operation != "navigate":
            return self._done({})
        found = self.world.site.get(given["url"])
        if found is None:
            raise ToolError.denied(f"the origin of `{given['url']}` is not granted; to allow it, add it to `origins`")
        page.url, page.shown = given["url"], found
        return self._done({"url": page.url, "status": found.status, "title": found.title})

    def poll(self, request: str) -> Outcome:
        found: Outcome = owned(self.world.requests, request, self.context.owner, "request").outcome
        return found

    def wait(self, request: str, milliseconds: int) -> Outcome:
        return self.poll(request)

    def acknowledge(self, request: str) -> None:
        self.poll(request)

    def cancel(self, request: str) -> None:
        self.poll(request)

    def read_result(self, request: str, start: int, max_bytes: int) -> ResultPiece:
        data = self.poll(request).data
        piece = data[start : start + max_bytes]
        return ResultPiece(start, start + len(piece), len(data), piece)

    def answer_dialog(self, id: str, accept: bool, text: str | None) -> None:
        self._page(id)
        raise ToolError.conflict("no dialog is open")

    def entries(self, id: str, log: str, after: int, most: int) -> LogPage:
        self._page(id)
        if log not in ("console", "network", "downloads"):
            raise ToolError.invalid("log: expected console, network or downloads")
        return LogPage("[]", after, 0)

    def _page(self, id: str) -> TestPage:
        found: TestPage = owned(self.world.pages, id, self.context.owner, "page")
        return found

    def _done(self, value: Any) -> str:
        data = json.dumps(value).encode()
        return self._keep(Outcome("done", 0, "", "", "application/json", data, len(data), False, None, None, None))

    def _failed(self, kind: str, message: str) -> str:
        return self._keep(Outcome("failed", 0, kind, message, "", b"", 0, False, None, None, None))

    def _keep(self, outcome: Outcome) -> str:
        id = self.world.id("request")
        self.world.requests[id] = TestRequest(self.context.owner, outcome)
        return id
