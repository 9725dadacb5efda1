"""Tools: what they may look like, what they answer, how they fail."""

import unittest
from dataclasses import dataclass
from typing import Any

from wharf_sdk import Answer, Call, Content, InputRequired, Reply, Tool, ToolError, guest, plugin, tool
from wharf_sdk.host import Host
from wharf_sdk.testing import TestHost, check_definitions


@dataclass
class Sum:
    a: int
    b: int = 1


@dataclass
class Total:
    total: int


@dataclass
class Limits:
    most: int = 10


@tool(title="Add", read_only=True, idempotent=True, timeout_milliseconds=5_000)
def add(input: Sum) -> Total:
    """Adds two numbers."""
    return Total(input.a + input.b)


@tool
def whose(call: Call) -> str:
    """Says whose call it is."""
    return f"{call.session} {call.assistant} {call.thread} {call.remaining_milliseconds}"


@tool(name="picture", description="Draws.")
def draw() -> Answer:
    return Answer([Content.binary("image/png", b"\x89PNG"), Content.text("here").at("a://b")], {"x": 1}, meta={"y": 2})


@tool
def broken() -> Total:
    """Breaks."""
    raise KeyError("secret place")


@tool
def wrong() -> Reply[Total]:
    """Answers with something else."""
    return Reply("?", Total("many"))  # type: ignore[arg-type]


@tool
def ask(call: Call) -> Total | InputRequired:
    """Asks first."""
    form = call.input.form("number")
    if form is None:
        return InputRequired().form("number", "Which?", {"type": "object", "properties": {}}).with_state("s")
    assert call.input.state == "s"
    return Total(int(form["number"]))


@tool
def limited(call: Call) -> str:
    """Reads a setting."""
    return str(call.settings(Limits).most)


PLUGIN = plugin(add, whose, draw, broken, wrong, ask, limited)
HOST = TestHost(PLUGIN)


class Definitions(unittest.TestCase):
    def test_a_function_stays_a_function(self) -> None:
        self.assertEqual(add(Sum(1, 2)), Total(3))

    def test_the_host_is_told_what_the_decorator_says(self) -> None:
        listed = {tool.name: tool for tool in PLUGIN.Tools().list_tools()}
        self.assertEqual(list(listed), ["add", "whose", "picture", "broken", "wrong", "ask", "limited"])
        self.assertEqual(
            listed["add"].meta,
            '{"title":"Add","annotations":{"readOnlyHint":true,"idempotentHint":true},"timeoutMilliseconds":5000}',
        )
        self.assertEqual(listed["add"].description, "Adds two numbers.")
        self.assertIn('"required":["total"]', listed["add"].output_schema)
        self.assertIsNone(listed["whose"].output_schema)
        self.assertEqual(listed["whose"].input_schema, '{"type":"object","properties":{},"additionalProperties":false}')

    def test_functions_that_are_no_tools_say_why(self) -> None:
        def untyped(call, input):  # type: ignore[no-untyped-def]
            """It."""

        def scalar(input: int) -> str:
            """It."""
            return ""

        def number() -> int:
            """It."""
            return 1

        def silent() -> str:
            return ""

        async def later() -> str:
            """It."""
            return ""

        for function, words in (
            (untyped, "annotate call, input, return"),
            (scalar, "Input is a dataclass"),
            (number, "return a dataclass"),
            (silent, "docstring"),
            (later, "no event loop"),
        ):
            with self.subTest(function=function.__name__), self.assertRaisesRegex(TypeError, words):
                tool(function)

    def test_a_plugin_refuses_what_the_host_would(self) -> None:
        def named(name: str) -> Tool[..., Any]:
            return tool(name=name, description="x")(lambda_tool)

        for offers, reasons, words in (
            ([add, add], {}, "two offers"),
            ([named("a__b")], {}, "two underscores"),
            ([named("a b")], {}, "a name is"),
            ([named("x" * 65)], {}, "a name is"),
            ([lambda_tool], {}, "@tool"),
            ([add], {"stat": "x"}, "no capability"),
            ([add], {"state": "x" * 301}, "1 to 300 bytes"),
        ):
            with self.subTest(words=words), self.assertRaisesRegex(TypeError, words):
                plugin(*offers, reasons=reasons)

    def test_missing_titles_and_descriptions_are_found(self) -> None:
        with self.assertRaisesRegex(AssertionError, "`a` of the tool `add` has no description"):
            check_definitions(plugin(add))


def lambda_tool() -> str:
    return ""


class Answers(unittest.TestCase):
    def test_structure_comes_with_its_text(self) -> None:
        answer = HOST.run("add", {"a": 2})
        self.assertEqual((answer.structured, answer.as_text()), ({"total": 3}, '{"total":3}'))

    def test_an_answer_is_handed_on_as_it_is(self) -> None:
        answer = guest._answer(HOST.run("picture"))
        self.assertEqual([part.mime_type for part in answer.content], ["image/png", "text/plain"])
        self.assertEqual(
            (answer.content[1].meta, answer.structured, answer.meta), ('{"uri":"a://b"}', '{"x":1}', '{"y":2}')
        )

    def test_the_context_is_the_callers(self) -> None:
        host = HOST.session("s").assistant("a").thread("t").remaining(7)
        self.assertEqual(host.run("whose").as_text(), "s a t 7")

    def test_rounds_of_input_come_back_with_what_was_given(self) -> None:
        asked = HOST.run("ask").meta["inputRequired"]
        self.assertEqual(asked["requests"]["number"]["method"], "elicitation/create")
        given = HOST.given("number", {"action": "accept", "content": {"number": 4}}, state=asked["state"])
        self.assertEqual(given.run("ask").structured, {"total": 4})
        declined = HOST.given("number", {"action": "decline"})
        self.assertIn("inputRequired", declined.run("ask").meta)


class Failures(unittest.TestCase):
    def failure(self, name: str, arguments: str = "{}") -> ToolError:
        with self.assertRaises(ToolError) as raised:
            PLUGIN.Tools().call_tool(name, arguments)
        return raised.exception

    def test_an_unexpected_exception_is_internal_and_its_traceback_is_the_operators(self) -> None:
        with self.assertRaises(ToolError) as raised:
            HOST.run("broken")
        self.assertEqual((raised.exception.code, raised.exception.message), ("internal", "KeyError: 'secret place'"))
        lines = [message for level, message in HOST.world.log if level == "error"]
        self.assertTrue(any("test_tools.py" in line for line in lines), lines)
        self.assertFalse(any("\n" in line for line in lines))

    def test_an_answer_of_another_type_is_internal(self) -> None:
        with self.assertRaisesRegex(ToolError, "internal: the answer of `wrong` does not fit its type: total"):
            HOST.run("wrong")

    def test_arguments_that_do_not_fit_are_invalid(self) -> None:
        for arguments in ("", "[]", "null", '{"a": "1"}', '{"a": 1, "c": 2}', '{"a": NaN}', "[" * 100_000):
            with self.subTest(arguments=arguments[:20]):
                self.assertEqual(self.failure("add", arguments).code, "invalid")
        self.assertEqual(self.failure("whose", '{"a": 1}').code, "invalid")

    def test_another_tool_is_not_found(self) -> None:
        self.assertEqual(self.failure("missing").code, "not-found")

    def test_errors_have_the_contracts_codes(self) -> None:
        self.assertEqual(ToolError("strange", "x").code, "internal")
        self.assertTrue(ToolError.conflict("x").retryable)
        self.assertFalse(ToolError.denied("x").retryable)
        self.assertEqual(len(ToolError.limit("한" * 5_000).message.encode()), 4_095)
        self.assertEqual(
            Answer.of_error(ToolError.timeout("late")).as_text(), "timeout: late (the same call may succeed later)"
        )

    def test_settings_that_do_not_fit_are_the_operators_to_mend(self) -> None:
        self.assertEqual(HOST.run("limited").as_text(), "10")
        self.assertEqual(HOST.settings({"most": 3}).run("limited").as_text(), "3")
        with self.assertRaises(ToolError) as raised:
            HOST.settings({"moist": 3}).run("limited")
        self.assertEqual((raised.exception.code, raised.exception.retryable), ("unavailable", False))
        self.assertIn("moist", raised.exception.message)

    def test_a_component_without_an_interface_says_what_is_missing(self) -> None:
        @tool
        def store(call: Call) -> str:
            """Stores."""
            call.state("session", "x")
            return ""

        with self.assertRaisesRegex(ToolError, "denied: this component does not import `state`"):
            guest.guarded(Host({"log": None}), lambda call: store.run(call, "{}"))


if __name__ == "__main__":
    unittest.main()
