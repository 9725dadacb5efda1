"""A server in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..errors import ToolError
from ..http import Request, Response
from .world import World

Server = Callable[[Request], Response]
"""What a test gives: it answers each request, or raises the `ToolError` that the host would."""


@dataclass(frozen=True)
class HttpInterface:
    """Sends requests to the server of the test."""

    world: World

    def send(self, request: Request) -> Response:
        """`denied` where the test gave no server."""
        if self.world.server is None:
            raise ToolError.denied("the test gave no server: TestHost.http(…)")
        return self.world.server(request)
