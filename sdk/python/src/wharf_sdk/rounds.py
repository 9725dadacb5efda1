"""Rounds of input: what a tool asks of its caller before it can answer.

Nothing waits. A tool that needs something returns `InputRequired`; the client
asks, and the tool is called anew with what was given (`Call.input`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .shapes import Json


@dataclass(frozen=True)
class InputRequired:
    """Up to 16 things to ask for, each under a name of 1 to 64 bytes. Each method returns a larger one."""

    requests: dict[str, Json] = field(default_factory=dict)
    state: str | None = None
    """Comes back unchanged in `Input.state`: at most 16,384 bytes. The caller may read it."""

    def form(self, name: str, message: str, schema: dict[str, Json]) -> InputRequired:
        """Asks a person to fill a form: the properties of this JSON Schema of a flat object."""
        return self.request(name, "elicitation/create", {"message": message, "requestedSchema": schema})

    def model(self, name: str, prompt: str, maximum_tokens: int) -> InputRequired:
        """Asks the client's model."""
        message = {"role": "user", "content": {"type": "text", "text": prompt}}
        return self.request(name, "sampling/createMessage", {"messages": [message], "maxTokens": maximum_tokens})

    def roots(self, name: str) -> InputRequired:
        """Asks which folders the client works in."""
        return self.request(name, "roots/list", {})

    def request(self, name: str, method: str, parameters: dict[str, Json]) -> InputRequired:
        """Asks anything that the contract knows, as the Model Context Protocol defines it."""
        return InputRequired({**self.requests, name: {"method": method, "params": parameters}}, self.state)

    def with_state(self, state: str) -> InputRequired:
        """Hands a text to the next round."""
        return InputRequired(self.requests, state)

    def meta(self) -> dict[str, Json]:
        """The `meta` of an answer that asks for it."""
        required: dict[str, Json] = {"requests": self.requests}
        if self.state is not None:
            required["state"] = self.state
        return {"inputRequired": required}


@dataclass(frozen=True)
class Input:
    """What was given to the round before. Nothing of it was checked against what was asked."""

    responses: dict[str, Json] = field(default_factory=dict)
    state: str | None = None

    @property
    def is_first(self) -> bool:
        """Whether this is the first round."""
        return not self.responses and self.state is None

    def form(self, name: str) -> dict[str, Json] | None:
        """What a person filled in, where they accepted the form."""
        response = self._object(name)
        content = response.get("content")
        return content if response.get("action") == "accept" and isinstance(content, dict) else None

    def model(self, name: str) -> str | None:
        """What the client's model said, where it was text."""
        content = self._object(name).get("content")
        # One block, or a list of them.
        block: Any = content[0] if isinstance(content, list) and content else content
        text = block.get("text") if isinstance(block, dict) else None
        return text if isinstance(text, str) else None

    def roots(self, name: str) -> list[str] | None:
        """The addresses of the client's folders."""
        roots = self._object(name).get("roots")
        if not isinstance(roots, list):
            return None
        return [root["uri"] for root in roots if isinstance(root, dict) and isinstance(root.get("uri"), str)]

    def _object(self, name: str) -> dict[str, Json]:
        response = self.responses.get(name)
        return response if isinstance(response, dict) else {}


def given(request_meta: dict[str, Json]) -> Input:
    """What the metadata of a request has of the round before."""
    raw = request_meta.get("dev.wharf/input")
    if not isinstance(raw, dict):
        return Input()
    responses, state = raw.get("responses"), raw.get("state")
    return Input(responses if isinstance(responses, dict) else {}, state if isinstance(state, str) else None)
