"""A tool that talks to an interactive program in a terminal; the host finds out when its turn ends."""

from dataclasses import dataclass
from typing import Annotated

from wharf_sdk import Call, Field, Reply, tool


@dataclass
class Sum:
    expression: Annotated[str, Field("An expression of Python, such as `6 * 7`.", min_length=1, max_length=1_000)]


@dataclass
class Computed:
    output: Annotated[str, "What the interpreter printed."]


@tool(title="Compute")
def compute(call: Call, input: Sum) -> Reply[Computed]:
    """Computes an expression with an interpreter of Python."""
    terminal = call.terminals.start("python3", ["-q"]).terminal.id
    # Its prompt: what is sent before that is typed into nothing.
    call.terminals.read(terminal, "text", 0, 5_000)
    turn = call.terminals.submit(terminal, input.expression)
    output, _ = call.terminals.answer(terminal, turn, 5_000)
    return Reply(output, Computed(output))
