"""Web pages of the session. What takes time is a request; `run` and `carry_out` ask and wait in one step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from .errors import ToolError
from .host import lift
from .lower import bounded
from .shapes import Json, read_json, write_json

Bytes = bytes
"""The type, where a field has its name."""

FAILURE_CODES = {
    "denied": "denied",
    "invalid": "invalid",
    "limit": "limit",
    "navigated": "conflict",
    "time-out": "timeout",
}
"""The codes of those kinds of failure that have one; other kinds are `unavailable`, not retryable."""


@dataclass(frozen=True)
class PageOptions:
    """How a page is opened."""

    width: int = 0
    """1 to 4096 CSS pixels; 0 for 1280."""
    height: int = 0
    """1 to 4096 CSS pixels; 0 for 800."""
    dialogs: Literal["", "report", "accept", "dismiss"] = ""
    options: str | None = None
    """The text of a JSON object with `locale`, `time_zone` and `user_agent`."""


@dataclass(frozen=True)
class Dialog:
    """A dialog that waits for an answer."""

    kind: str
    message: str
    default_text: str
    open_milliseconds: int


@dataclass(frozen=True)
class PageInfo:
    """A page as it is now."""

    id: str
    """Its handle: unguessable."""
    status: str
    """`opening`, `ready`, `loading`, `crashed` or `closed`. Treat an unknown word as `ready`."""
    url: str
    title: str
    width: int
    height: int
    dialog: Dialog | None
    pending: int
    opened: str
    last_used: str
    closed_because: str | None
    meta: str | None


@dataclass(frozen=True)
class ScriptOptions:
    """How a script is run."""

    world: Literal["", "page", "isolated"] = ""
    """`isolated`: apart from the page's own scripts, with the same document."""
    milliseconds: int = 0
    """The deadline, 1 to 300,000; 0 for 30,000."""
    max_bytes: int = 0
    """How much of the result is sent, 1 to 1,048,576; 0 for that."""
    options: str | None = None
    """The text of a JSON object with `frame`."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a request, so far."""

    state: str
    """`pending`, `done`, `failed`, `expired` or `unknown`."""
    elapsed_milliseconds: int
    kind: str
    """Why it failed. Treat an unknown word as `exception`."""
    message: str
    mime_type: str
    data: Bytes
    bytes: int
    """How many the whole result has."""
    truncated: bool
    dialog: Dialog | None
    advice: str | None
    meta: str | None


@dataclass(frozen=True)
class ResultPiece:
    """A piece of a result."""

    start: int
    next: int
    bytes: int
    data: Bytes


@dataclass(frozen=True)
class LogPage:
    """Entries of a log of a page."""

    entries: str
    """The text of a JSON array of objects with `number` and `time`."""
    next: int
    lost: int


@dataclass(frozen=True)
class WebPages:
    """Opens and drives pages. Get it from `Call.web_pages`.

    Every function may fail with `denied`, naming the line of configuration;
    `not-found` where there is no such page or request of this owner; `unavailable`.
    """

    interface: Any
    LONGEST_REQUEST_MILLISECONDS: ClassVar[int] = 300_000

    def status(self) -> dict[str, Json]:
        """What holds for the pages of this plugin here, as the contract's `webview.status`."""
        status = read_json(self.interface.status(), "the status")
        return status if isinstance(status, dict) else {}

    def open(self, options: PageOptions | None = None) -> PageInfo:
        """Opens an empty page, at once. `limit` where the owner has as many as it may."""
        asked = options or PageOptions()
        for name, pixels in (("width", asked.width), ("height", asked.height)):
            bounded(name, pixels)
        return lift(PageInfo, self.interface.open(asked))

    def all(self) -> list[PageInfo]:
        """All pages of this owner."""
        return [lift(PageInfo, info) for info in self.interface.list()]

    def get(self, id: str) -> PageInfo:
        """One page."""
        return lift(PageInfo, self.interface.get(id))

    def close(self, id: str) -> None:
        """Closes a page, with all that it keeps."""
        self.interface.close(id)

    def execute(self, id: str, script: str, options: ScriptOptions | None = None) -> str:
        """Runs JavaScript: returns the id of the request at once. `limit` with 64 pending; `gone` when closed."""
        asked = options or ScriptOptions()
        bounded("max_bytes", asked.max_bytes)
        return str(self.interface.execute_script(id, script, asked))

    def perform(self, id: str, operation: str, parameters: dict[str, Json] | None = None, milliseconds: int = 0) -> str:
        """Does one of the contract's operations: returns the id of the request at once."""
        return str(self.interface.perform(id, operation, write_json(parameters or {}), milliseconds))

    def run(self, id: str, script: str, options: ScriptOptions | None = None) -> Json:
        """Runs JavaScript and waits for its value. Errors as `execute` and `result`."""
        return self._value(self.result(self.execute(id, script, options)))

    def carry_out(
        self, id: str, operation: str, parameters: dict[str, Json] | None = None, milliseconds: int = 0
    ) -> Outcome:
        """Does an operation and waits for its outcome. Errors as `perform` and `result`."""
        return self.result(self.perform(id, operation, parameters, milliseconds))

    def navigate(self, id: str, url: str, milliseconds: int = 0) -> dict[str, Json]:
        """Goes to an address: `url`, `status`, `title`, `mime_type` and more of where it came to."""
        found = self._value(self.carry_out(id, "navigate", {"url": url}, milliseconds))
        return found if isinstance(found, dict) else {}

    def result(self, request: str) -> Outcome:
        """The outcome of a request that is done, waited for as long as it may take.

        Errors: by the kind of its failure, with its message; `timeout` where it is
        pending when the call is nearly over; `conflict` where a dialog has to be
        answered first.
        """
        outcome = self.wait(request, self.LONGEST_REQUEST_MILLISECONDS)
        if outcome.state == "done":
            self.interface.acknowledge(request)
            return outcome
        if outcome.state == "pending":
            if outcome.dialog is not None:
                raise ToolError.conflict(f"a dialog has to be answered first: {outcome.dialog.message}")
            raise ToolError.timeout(f"the page is not done yet; ask for the request `{request}` later")
        if outcome.state != "failed":
            raise ToolError.gone("the result of this request is not kept any more")
        message = f"{outcome.kind}: {outcome.message}"
        code = FAILURE_CODES.get(outcome.kind)
        raise ToolError(code, message) if code else ToolError("unavailable", message, retryable=False)

    @staticmethod
    def _value(outcome: Outcome) -> Json:
        if outcome.truncated:
            raise ToolError.limit(f"the result has {outcome.bytes} bytes, and not all of it was sent")
        return read_json(outcome.data.decode("utf-8", "replace"), "the result")

    def poll(self, request: str) -> Outcome:
        """The outcome of a request so far; never waits."""
        return lift(Outcome, self.interface.poll(request))

    def wait(self, request: str, milliseconds: int) -> Outcome:
        """The same once it has ended, at most so much later."""
        return lift(Outcome, self.interface.wait(request, milliseconds))

    def cancel(self, request: str) -> None:
        """Ends a request with `cancelled`."""
        self.interface.cancel(request)

    def acknowledge(self, request: str) -> None:
        """Lets go of a request that has ended."""
        self.interface.acknowledge(request)

    def read_result(self, request: str, start: int, max_bytes: int = 1_048_576) -> ResultPiece:
        """A piece of a result. `gone` where the page does not keep it; `conflict` where it is not done."""
        return lift(ResultPiece, self.interface.read_result(request, start, bounded("max_bytes", max_bytes)))

    def answer_dialog(self, id: str, accept: bool, text: str | None = None) -> None:
        """Answers the dialog that is open. `conflict` where none is."""
        self.interface.answer_dialog(id, accept, text)

    def entries(
        self, id: str, log: Literal["console", "network", "downloads"], after: int = 0, most: int = 100
    ) -> LogPage:
        """Entries of a log of a page behind a number, the oldest first."""
        return lift(LogPage, self.interface.entries(id, log, after, bounded("most", most)))
