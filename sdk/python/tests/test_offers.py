"""Prompts, resources, completion, events, terminals and HTTP, on the host in memory."""

import unittest

import offering
from offering import PLUGIN, Fetched

from wharf_sdk import ResourceTemplate, ToolError, Typed, prompt
from wharf_sdk.http import Request, Response
from wharf_sdk.testing import Script, TestHost


class Offers(unittest.TestCase):
    def setUp(self) -> None:
        self.host = TestHost(PLUGIN)

    def test_a_prompt_is_listed_and_made(self) -> None:
        (listed,) = PLUGIN.Prompts().list_prompts()
        self.assertEqual([(a.name, a.required) for a in listed.arguments], [("path", True), ("language", False)])
        (message,) = self.host.prompt("review", {"path": "a.c"}).messages
        self.assertEqual((message[0], message[1].data), ("user", b"Review a.c in english."))

    def test_a_prompt_takes_texts_only(self) -> None:
        def count(input: Fetched) -> str:
            """Counts."""
            return ""

        with self.assertRaisesRegex(TypeError, "status"):
            prompt(count)

    def test_resources_are_listed_read_and_claimed(self) -> None:
        exported = PLUGIN.Resources()
        self.assertEqual(exported.claims(), ["manual://"])
        self.assertEqual(exported.list_templates()[0].uri_template, "manual://chapters/{name}")
        self.assertEqual(exported.list_resources()[0].meta, '{"size":15}')
        self.assertEqual(self.host.read_resource("manual://chapters/bow")[0].content.data, b"Let go forward.")
        for uri in ("manual://chapters/stern", "manual://", "other://x"):
            with self.subTest(uri=uri), self.assertRaisesRegex(ToolError, "not-found"):
                self.host.read_resource(uri)

    def test_variables_of_a_template_are_decoded(self) -> None:
        template = ResourceTemplate("a://{x}/b.{y}", "n")
        self.assertEqual(template.variables("a://1%202/b.c"), {"x": "1 2", "y": "c"})
        for uri in ("a://1/2/b.c", "a:///b.c", "a://1/bxc", ""):
            self.assertIsNone(template.variables(uri), uri)

    def test_a_word_is_completed(self) -> None:
        self.assertEqual(self.host.complete(Typed("prompt", "review", "language", "ko", {})).values, ["korean"])
        answered = PLUGIN.Completion().complete("later-kind", "x", "y", "z", "{}")
        self.assertEqual(answered.values, [])

    def test_events_reach_the_caller(self) -> None:
        self.host.run("work")
        world = self.host.world
        self.assertEqual((world.progress, world.messages), ([(1.0, 2.0, "half")], [("info", {"half": True})]))
        (stream,) = world.streams.values()
        self.assertEqual((stream.events, stream.ended), ([("say", "half"), ("advance", ("end", 100.0))], True))
        self.assertEqual(world.changes, ["manual://chapters/bow"])
        with self.assertRaisesRegex(ToolError, "denied: not granted"):
            self.host.without("events").run("work")

    def test_a_stream_belongs_to_its_session_and_ends(self) -> None:
        stream = self.host.call().open_stream("work", "build", {"settle_milliseconds": 5})
        with self.assertRaisesRegex(ToolError, "not-found"):
            self.host.session("other").call().stream(stream.id).say("hm")
        stream.complete()
        with self.assertRaisesRegex(ToolError, "gone"):
            stream.say("more")

    def test_a_terminal_plays_from_a_script(self) -> None:
        self.host.terminal_program("sh", Script("$ ", {"echo 1": "1\n$ "}))
        self.assertEqual(self.host.run("type_line", {"text": "echo 1"}).as_text(), "1\n$ (None)")
        with self.assertRaisesRegex(ToolError, "denied"):
            self.host.call().terminals.start("vi")
        (terminal,) = self.host.call().terminals.all()
        self.assertEqual(terminal.status, "closed")
        with self.assertRaisesRegex(ToolError, "gone"):
            self.host.call().terminals.type(terminal.id, "x")
        with self.assertRaisesRegex(ToolError, "not-found"):
            self.host.session("other").call().terminals.screen(terminal.id)

    def test_http_goes_to_the_server_of_the_test(self) -> None:
        def server(request: Request) -> Response:
            return Response(200, [("Content-Type", "text/plain")], request.url.encode())

        self.host.http(server)
        answer = self.host.run("fetch", {"text": "https://example.com/a?b"})
        self.assertEqual(answer.structured, {"status": 200, "body": "https://example.com/a?b"})
        for url in (
            "example.com",
            "ftp://example.com/",
            "https://",
            "https://exämple.com/",
            "https://a b/",
            "https://[/",
        ):
            with self.subTest(url=url), self.assertRaisesRegex(ToolError, "invalid: the URL"):
                self.host.run("fetch", {"text": url})
        self.assertEqual(server(Request.get("https://a/")).header("content-type"), "text/plain")
        with self.assertRaisesRegex(ToolError, "unavailable: the server's answer is no UTF-8"):
            Response(200, [], b"\xff").text()
        with self.assertRaisesRegex(ToolError, "unavailable: the server's answer"):
            Response(200, [], b"{").json()

    def test_the_module_binds_what_it_exports(self) -> None:
        for name, offered in PLUGIN.exports().items():
            self.assertTrue(offered and isinstance(getattr(offering, name), type), name)


if __name__ == "__main__":
    unittest.main()
