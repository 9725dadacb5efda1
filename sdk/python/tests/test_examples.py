"""The examples, on the host in memory."""

import tempfile
import unittest
from pathlib import Path

import builder
import greeter
import page_reader

from wharf_sdk import ToolError
from wharf_sdk.process import Condition, Launch
from wharf_sdk.process_reports import Position
from wharf_sdk.testing import Program, TestHost, WebPage, check_definitions

SCRIPT = page_reader.TEXT


class Definitions(unittest.TestCase):
    def test_every_tool_has_a_title_and_every_argument_a_description(self) -> None:
        for plugin in (greeter.PLUGIN, builder.PLUGIN, page_reader.PLUGIN):
            check_definitions(plugin)


class Greeter(unittest.TestCase):
    def setUp(self) -> None:
        self.host = TestHost(greeter.PLUGIN)

    def test_visits_are_counted_by_session(self) -> None:
        ada = {"name": "Ada"}
        self.assertEqual(self.host.run("greet", ada).as_text(), "Welcome, Ada. Visit 1.")
        self.assertEqual(self.host.run("greet", {**ada, "language": "de"}).as_text(), "Willkommen, Ada. Besuch 2.")
        self.assertEqual(self.host.session("b").run("greet", ada).structured, {"count": 1})

    def test_who_never_came_cannot_be_forgotten(self) -> None:
        self.host.run("greet", {"name": "Ada"})
        self.assertEqual(self.host.run("forget", {"name": "Ada"}).as_text(), "Forgot Ada.")
        with self.assertRaisesRegex(ToolError, "not-found"):
            self.host.run("forget", {"name": "Ada"})

    def test_the_operator_may_close_it(self) -> None:
        with self.assertRaisesRegex(ToolError, "unavailable: the operator has closed"):
            self.host.settings({"closed": True}).run("greet", {"name": "Ada"})

    def test_arguments_outside_of_the_schema_are_the_tests_own_mistake(self) -> None:
        for arguments in ({}, {"name": ""}, {"name": "Ada", "language": "fr"}, {"name": "Ada", "age": 3}):
            with self.subTest(arguments=arguments), self.assertRaises(AssertionError):
                self.host.run("greet", arguments)


class Builder(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.host = TestHost(builder.PLUGIN).workspace(folder.name)

    def test_a_file_is_written_and_compiled(self) -> None:
        started: list[list[str]] = []
        self.host.program("cc", Program(stderr=b"main.c: a warning\n", effect=started.append))
        self.host.run("write_source", {"file": "main.c", "text": "int main(void) { return 0; }"})
        self.assertTrue(Path(self.folder, "main.c").is_file())
        built = self.host.run("build", {"file": "main.c", "program": "main"})
        self.assertEqual(started, [["-Wall", "-Wextra", "-o", "main", "main.c"]])
        self.assertEqual(built.structured["program"], f"{self.folder}/main")
        self.assertEqual((built.structured["exit_code"], built.structured["output"]), (0, "main.c: a warning\n"))

    def test_a_complaint_of_the_compiler_is_an_answer(self) -> None:
        self.host.program("cc", Program(stderr=b"error\xff" * 20_000, code=1))
        self.host.run("write_source", {"file": "main.c", "text": "?"})
        built = self.host.run("build", {"file": "main.c"})
        self.assertEqual((built.is_error, built.structured["exit_code"], built.structured["program"]), (False, 1, None))
        self.assertLessEqual(len(built.structured["output"]), builder.MAXIMUM_OUTPUT_BYTES)

    def test_what_is_missing_or_not_granted_is_said(self) -> None:
        with self.assertRaisesRegex(ToolError, "not-found: there is no `main.c`"):
            self.host.run("build", {"file": "main.c"})
        self.host.run("write_source", {"file": "main.c", "text": ""})
        with self.assertRaisesRegex(ToolError, "denied"):
            self.host.run("build", {"file": "main.c"})
        with self.assertRaises(AssertionError):
            self.host.run("write_source", {"file": "../main.c", "text": ""})

    def test_processes_are_followed_by_their_owner_alone(self) -> None:
        self.host.program("cat", Program(b"one\ntwo\nthree\n"))
        processes = self.host.call().processes
        id = processes.spawn("cat", [], Launch(input=True))
        self.assertEqual(processes.write(id, b"x", 100), 1)
        processes.close_input(id)
        found = processes.wait(id, Condition(pattern=(Position("stdout", 0), "^t")), 100)
        self.assertEqual((found.reason, found.found), ("pattern", (4, 5)))
        self.assertEqual(processes.tail(id, "stdout", 1).text(), "three\n")
        self.assertEqual(processes.head(id, "stdout", 2).data, b"one\ntwo\n")
        self.assertEqual(processes.poll(id, 1).stdout.start, 8)
        self.assertEqual([process.status for process in processes.all()], ["finished"])
        for lines in (-1, 1 << 32, True):
            with self.subTest(lines=lines), self.assertRaisesRegex(ToolError, "invalid: `lines`"):
                processes.tail(id, "stdout", lines)
        with self.assertRaisesRegex(ToolError, "not-found"):
            self.host.session("other").call().processes.poll(id)


class PageReader(unittest.TestCase):
    def setUp(self) -> None:
        page = WebPage("Tides", {SCRIPT: "High water at noon."})
        self.host = TestHost(page_reader.PLUGIN).web_page("https://tides.example/", page)

    def test_title_and_text_are_answered_and_the_page_is_closed(self) -> None:
        answer = self.host.run("read_page", {"url": "https://tides.example/", "characters": 10})
        self.assertEqual(answer.as_text(), "Tides\n\nHigh water")
        self.assertEqual((answer.structured["status"], answer.structured["truncated"]), (200, True))
        self.assertEqual(self.host.world.pages, {})

    def test_a_page_is_closed_when_reading_fails(self) -> None:
        self.host.web_page("https://odd.example/", WebPage("Odd", {SCRIPT: None}))
        self.host.web_page("https://throws.example/", WebPage("Throws"))
        for url, words in (
            ("https://other.example/", "denied"),
            ("https://odd.example/", "unavailable: the page has no text"),
            ("https://throws.example/", "unavailable: exception"),
        ):
            with self.subTest(url=url), self.assertRaisesRegex(ToolError, words):
                self.host.run("read_page", {"url": url})
        self.assertEqual(self.host.world.pages, {})


if __name__ == "__main__":
    unittest.main()
