"""State: what the kit makes of a bucket, on the bucket in memory."""

import unittest
from typing import Any

from wharf_sdk import Bucket, Change, ToolError
from wharf_sdk.state import ATTEMPTS
from wharf_sdk.testing import TestHost


class State(unittest.TestCase):
    def setUp(self) -> None:
        self.host = TestHost().session("s")
        self.bucket = self.host.call().state("session", "notes")

    def failure(self, function: Any, *arguments: Any) -> str:
        with self.assertRaises(ToolError) as raised:
            function(*arguments)
        return raised.exception.code

    def test_entries_are_written_read_and_deleted(self) -> None:
        first = self.bucket.put("a", b"1")
        self.assertGreater(self.bucket.put("a", b"2"), first)
        self.bucket.put_json("b", {"x": [1, None, "한"]})
        self.assertEqual(self.bucket.get_json("b"), {"x": [1, None, "한"]})
        self.assertEqual(self.bucket.get_json("c", 7), 7)
        found = self.bucket.get_many(["b", "missing", "a"])
        self.assertEqual([entry and entry.key for entry in found], ["b", None, "a"])
        self.bucket.delete("a")
        self.bucket.delete("a")
        self.assertIsNone(self.bucket.get("a"))

    def test_contexts_are_apart(self) -> None:
        self.bucket.put("a", b"1")
        other = self.host.session("other")
        self.assertIsNone(other.call().state("session", "notes").get("a"))
        self.assertIsNone(self.host.call().state("session", "other").get("a"))
        self.assertIsNone(self.host.call().state("thread", "notes").get("a"))
        self.host.call().state("plugin", "notes").put("p", b"1")
        self.assertIsNotNone(other.call().state("plugin", "notes").get("p"))
        self.assertEqual(self.failure(self.host.call().state, "assistant", "notes"), "invalid")

    def test_a_scan_pages_through_all_entries_of_a_prefix(self) -> None:
        self.bucket.apply([Change.put_json(f"k{number:03}", number) for number in range(250)])
        self.bucket.put("l", b"")
        self.assertEqual([entry.json() for entry in self.bucket.scan("k", page_size=100)], list(range(250)))
        self.assertEqual(list(self.bucket.scan("none")), [])
        self.assertEqual(self.bucket.page("k", limit=0).entries[0].key, "k000")
        self.assertEqual(self.bucket.usage().entries, 251)

    def test_changes_are_made_together_or_not_at_all(self) -> None:
        revision = self.bucket.put("a", b"1")
        changes = [Change("b", b"2", if_revision=0), Change("a", b"3", if_revision=revision + 1)]
        self.assertEqual(self.failure(self.bucket.apply, changes), "conflict")
        self.assertIsNone(self.bucket.get("b"))
        self.assertEqual(self.bucket.apply([Change("b", b"2", 0), Change.delete("a", revision)])[1], 0)

    def test_bounds_are_the_contracts(self) -> None:
        for function, arguments in (
            (self.bucket.put, ("", b"")),
            (self.bucket.put, ("x" * 513, b"")),
            (self.bucket.put, ("x", b"0" * 1_048_577)),
            (self.bucket.get_many, (["x"] * 1_001,)),
            (self.bucket.apply, ([Change("x", b""), Change("x", b"")],)),
            (self.host.call().state, ("session", "a/b")),
            (self.host.call().state, ("world", "a")),
        ):
            with self.subTest(arguments=str(arguments)[:30]):
                self.assertEqual(self.failure(function, *arguments), "invalid")

    def test_update_starts_again_when_another_call_wrote(self) -> None:
        rival = self.host.call().state("session", "notes")
        seen: list[int] = []

        def change(count: int) -> int:
            seen.append(count)
            if len(seen) < 3:
                rival.put_json("count", 10 * len(seen))
            return count + 1

        self.assertEqual(self.bucket.update("count", change, default=0), 21)
        self.assertEqual(seen, [0, 10, 20])

    def test_update_gives_up_after_bounded_attempts_and_when_time_is_up(self) -> None:
        attempts = 0

        def contested(bucket: Bucket) -> None:
            def change(count: int) -> int:
                nonlocal attempts
                attempts += 1
                bucket.put_json("count", attempts)
                return count

            bucket.update("count", change, default=0)

        self.assertEqual(self.failure(contested, self.bucket), "conflict")
        self.assertEqual(attempts, ATTEMPTS)
        attempts = 0
        late = self.host.remaining(100).call().state("session", "notes")
        self.assertEqual(self.failure(contested, late), "conflict")
        self.assertEqual(attempts, 1)

    def test_update_writes_nothing_when_the_change_fails(self) -> None:
        def fail(value: list[int]) -> list[int]:
            value.append(1)
            raise ToolError.invalid("no")

        default: list[int] = []
        self.assertEqual(self.failure(lambda: self.bucket.update("a", fail, default)), "invalid")
        self.assertEqual((self.bucket.get("a"), default), (None, []))

    def test_transact_keeps_several_keys_together(self) -> None:
        self.bucket.put_json("from", 5)

        def move(entries: list[Any]) -> tuple[list[Change], int]:
            amount = entries[0].json()
            return [Change.delete("from"), Change.put_json("to", amount)], amount

        self.assertEqual(self.bucket.transact(["from", "to"], move), 5)
        self.assertEqual((self.bucket.get("from"), self.bucket.get_json("to")), (None, 5))
        self.assertEqual(self.bucket.transact(["to"], lambda entries: ([], "nothing")), "nothing")

    def test_what_is_no_json_is_a_defect(self) -> None:
        self.bucket.put("a", b"\xff")
        self.assertEqual(self.failure(self.bucket.get_json, "a"), "internal")
        self.assertEqual(self.failure(self.bucket.put_json, "a", {1, 2}), "internal")

    def test_expiry_and_missing_grants_can_be_told(self) -> None:
        self.bucket.put("a", b"1")
        self.host.expire("session")
        self.assertIsNone(self.bucket.get("a"))
        self.assertEqual(self.bucket.expired_at(), "2026-01-01T00:00:00Z")
        self.assertEqual(self.failure(self.host.without("state").call().state, "session", "notes"), "denied")


if __name__ == "__main__":
    unittest.main()
