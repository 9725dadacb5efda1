"""The content store, as an agent app uses it: real documents, and hostile ones."""

from __future__ import annotations

import base64
import io
import zipfile
from pathlib import Path
from typing import Any

from mcp import Client

from harness import CheckFailed, Host, Report, call, context, error_of, shorten, text_of

FILES = Path(__file__).resolve().parents[2] / "sdk" / "documents" / "tests" / "files"

REAL = {
    "python-docx.docx": ["harbour opening hours", "화물선 요금"],
    "openpyxl.xlsx": ["cargo", "돛단배"],
    "reportlab.pdf": ["closes at nine", "항구"],
}


def document(name: str, content: bytes) -> dict[str, Any]:
    return {"name": name, "document": base64.b64encode(content).decode()}


async def search(client: Client, query: str, meta: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
    result = await call(client, "content-store__search_content", {"query": query, **more}, meta)
    return result.structured_content["hits"]


async def found_and_read(report: Report, host: Host, era: str) -> None:
    meta = context(f"{era}-reader", "a", "t")
    async with host.client(era) as client:
        for name, queries in REAL.items():
            added = await call(client, "content-store__add_content", document(name, (FILES / name).read_bytes()), meta)
            content = added.structured_content["content_id"]
            for query in queries:
                hits = await search(client, query, meta, content_ids=[content])
                holds = bool(hits) and "**" in hits[0]["snippet"]
                report.check(holds, f"{era}: {name} is found by {query!r}", hits)
                lines = {"content_id": content, "from_line": hits[0]["first_line"], "to_line": hits[0]["last_line"]}
                read = (await call(client, "content-store__read_content", lines, meta)).structured_content
                marked = hits[0]["snippet"].split("**")[1]
                report.check(marked in read["text"], f"{era}: its lines hold {marked!r}", read)
        text = "first \n  lighthouse\t\n\n\n"
        added = (await call(client, "content-store__add_content", {"text": text}, meta)).structured_content
        read = (await call(client, "content-store__read_content", {"content_id": added["content_id"]}, meta)).structured_content
        report.check((read["text"], read["total_lines"]) == (text, 4), f"{era}: a text is read as it was, blanks and all", read)
        hits = await search(client, "harbour", context(f"{era}-stranger"))
        report.check(hits == [], f"{era}: another session finds nothing", hits)
        listed = (await call(client, "content-store__list_contents", {"limit": 1}, meta)).structured_content
        newest = (listed["contents"][0]["content_id"], listed["has_more"], listed["total"])
        report.check(newest == (added["content_id"], True, 4), f"{era}: contents are listed newest first", listed)
        await call(client, "content-store__delete_content", {"content_id": added["content_id"]}, meta)
        hits = await search(client, "lighthouse", meta)
        report.check(hits == [], f"{era}: what was deleted is not found any more", hits)


def bomb() -> bytes:
    """A docx whose text unpacks to half a gigabyte."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        with archive.open("word/document.xml", "w") as part:
            part.write(b"<w:document>")
            for _ in range(512):
                part.write(b" " * (1 << 20))
    return packed.getvalue()


async def hostile(report: Report, host: Host, era: str) -> None:
    meta = context(f"{era}-hostile")
    pdf = (FILES / "reportlab.pdf").read_bytes()
    cases = {
        "a zip bomb": document("bomb.docx", bomb()),
        "half of a pdf": document("half.pdf", pdf[: len(pdf) // 2]),
        "words under the name of a sheet": document("words.xlsx", b"just words"),
        "what is not base64": {"name": "a.pdf", "document": "!!!"},
        "an empty document": document("empty.txt", b""),
    }
    async with host.client(era) as client:
        await call(client, "content-store__add_content", {"text": "The harbour, before."}, meta)
        for what, arguments in cases.items():
            result = await client.call_tool("content-store__add_content", arguments, meta=meta)
            text = text_of(result)
            if not result.is_error and what != "half of a pdf":
                raise CheckFailed(f"{era}: {what} was taken: {shorten(text)}")
            code = error_of(result).get("code", "")
            report.check(code != "internal" and len(text) < 2_000, f"{era}: {what} ends in a few words", (code, text))
        hits = await search(client, "harbour before", meta)
        report.check(len(hits) == 1, f"{era}: the store is as it was", hits)
