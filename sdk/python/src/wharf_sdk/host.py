"""The host as the kit sees it: one object for each interface that the component imports.

The functions of an interface have the names and parameters of the contract, and
fail with `ToolError`. `wit_host` makes one of the bindings, `testing` one in memory.
"""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from .errors import ToolError

T = TypeVar("T")

INTERFACES = (
    "caller",
    "log",
    "state",
    "settings",
    "events",
    "process",
    "workspace",
    "terminal",
    "webview",
    "http",
)
"""The interfaces that the kit can use."""


class Host:
    """The interfaces of one host."""

    def __init__(self, interfaces: dict[str, Any]) -> None:
        self._interfaces = interfaces

    def interface(self, name: str) -> Any:
        """The functions of an interface. `denied` where the component does not import it."""
        found = self._interfaces.get(name)
        if found is None:
            raise ToolError.denied(
                f"this component does not import `{name}`: name it among the `reasons` of `plugin`, and build again"
            )
        return found


_hints: dict[type[Any], dict[str, Any]] = {}


def lift(type_: type[T], raw: Any) -> T:
    """A record of the kit from one of the bindings, which has the same fields. Records within it, too."""
    if type_ not in _hints:
        _hints[type_] = get_type_hints(type_)
    hints = _hints[type_]
    fields = (field.name for field in dataclasses.fields(type_))  # type: ignore[arg-type]
    return type_(**{name: _lift_value(hints[name], getattr(raw, name)) for name in fields})


def _lift_value(hint: Any, value: Any) -> Any:
    if value is None:
        return None
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return lift(hint, value)
    members = [member for member in get_args(hint) if member is not type(None)]
    if get_origin(hint) is list and members:
        return [_lift_value(members[0], item) for item in value]
    if get_origin(hint) is not None and len(members) == 1:
        return _lift_value(members[0], value)
    return value
