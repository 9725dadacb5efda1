"""`plugin`: what a component offers, and the classes that componentize-py exports."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from . import guest
from .prompt import Prompt
from .resource import Completion, Resources
from .tool import Tool

CAPABILITIES = ("state", "events", "process", "workspace", "terminal", "webview", "http")
"""What a plugin may have a reason for. Each one adds its interface to the component."""

MAXIMUM_REASON_BYTES = 300
MAXIMUM_OFFERS = 256


@dataclass(frozen=True)
class Plugin:
    """What a component offers.

    `Tools`, and `Prompts`, `Resources` and `Completion` where it has them, are what
    componentize-py looks for in the module that it is given: bind them to those names.
    """

    tools: dict[str, Tool[..., Any]]
    prompts: dict[str, Prompt[..., Any]]
    resources: Resources | None
    completion: Completion | None
    reasons: dict[str, str] = field(default_factory=dict)

    @property
    def Tools(self) -> type[Any]:  # noqa: N802
        """Exports the tools."""
        return guest.export_tools(self.tools)

    @property
    def Prompts(self) -> type[Any]:  # noqa: N802
        """Exports the prompts."""
        return guest.export_prompts(self.prompts)

    @property
    def Resources(self) -> type[Any]:  # noqa: N802
        """Exports the resources."""
        if self.resources is None:
            raise TypeError("this plugin has no resources")
        return guest.export_resources(self.resources)

    @property
    def Completion(self) -> type[Any]:  # noqa: N802
        """Exports the completion."""
        if self.completion is None:
            raise TypeError("this plugin has no completion")
        return guest.export_completion(self.completion)

    def exports(self) -> dict[str, bool]:
        """The names that the module has to bind, and whether this plugin has them."""
        return {
            "Tools": True,
            "Prompts": bool(self.prompts),
            "Resources": self.resources is not None,
            "Completion": self.completion is not None,
        }


def plugin(
    *offers: Tool[..., Any] | Prompt[..., Any],
    reasons: dict[str, str] | None = None,
    resources: Resources | None = None,
    completion: Completion | None = None,
) -> Plugin:
    """Gathers the tools and prompts of a component.

    `reasons` says for each capability that the plugin uses why it does, in at most
    300 bytes for the operator: `state`, `events`, `process`, `workspace`, `terminal`,
    `webview` and `http`. `python -m wharf_sdk build` makes the component import these.

    Raises `TypeError` for what the host would refuse.
    """
    tools = [offer for offer in offers if isinstance(offer, Tool)]
    prompts = [offer for offer in offers if isinstance(offer, Prompt)]
    if len(tools) + len(prompts) != len(offers):
        raise TypeError("plugin takes what @tool and @prompt made")
    for capability, reason in (reasons or {}).items():
        if capability not in CAPABILITIES:
            raise TypeError(f"`{capability}` is no capability; there is {', '.join(CAPABILITIES)}")
        if not reason.strip() or len(reason.encode()) > MAXIMUM_REASON_BYTES:
            raise TypeError(f"the reason for `{capability}` has 1 to {MAXIMUM_REASON_BYTES} bytes")
    return Plugin(_by_name(tools), _by_name(prompts), resources, completion, dict(reasons or {}))


def _by_name(offers: list[Any]) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for offer in offers:
        if not re.fullmatch(r"(?!.*__)[A-Za-z0-9_-]{1,64}", offer.name):
            raise TypeError(f"`{offer.name}`: a name is 1 to 64 of [A-Za-z0-9_-], without two underscores in a row")
        if offer.name in named:
            raise TypeError(f"two offers are called `{offer.name}`")
        named[offer.name] = offer
    if len(named) > MAXIMUM_OFFERS:
        raise TypeError(f"at most {MAXIMUM_OFFERS} tools and as many prompts")
    return named
