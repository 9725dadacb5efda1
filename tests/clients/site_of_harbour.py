"""The site below tests/site: a harbour office with a login, a table, a form and a download.

Run by itself, it prints its address and serves until its standard input closes.
"""

from __future__ import annotations

import html
import json
import re
import secrets
import sys
import threading
import time
from email.parser import BytesParser
from email.policy import HTTP
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

FILES = Path(__file__).resolve().parent.parent / "site"
SLOW_SECONDS = 1.5
LARGEST_BODY = 4 << 20
SHIPS = ["Albatross", "Bergen", "Cormorant", "Dolphin", "Eider", "Fulmar", "Gannet", "Heron", "Isis", "Jade", "Kite", "Lark"]


class Site:
    """A server on a port of its own, with orders of its own."""

    def __init__(self, slow_seconds: float = SLOW_SECONDS) -> None:
        self.slow_seconds = slow_seconds
        self.cookies: set[str] = set()
        self.orders: list[dict[str, Any]] = [
            {"number": 101 + index, "ship": ship, "berths": (index * 7) % 12 + 1, "status": "open"}
            for index, ship in enumerate(SHIPS)
        ]
        site = self

        class Handler(Requests):
            pass

        Handler.site = site
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self) -> Site:
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()


class Requests(BaseHTTPRequestHandler):
    """Answers the requests of a browser."""

    site: Site
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        """Says nothing."""

    def answer(self, status: int, body: str | bytes, kind: str = "text/html; charset=utf-8", **headers: str) -> None:
        data = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        try:
            self.end_headers()
            self.wfile.write(data)
        except ConnectionError:
            # The page went elsewhere meanwhile.
            self.close_connection = True

    def page(self, name: str) -> None:
        self.answer(200, (FILES / f"{name}.html").read_bytes())

    def redirect(self, to: str, **headers: str) -> None:
        self.answer(303, "", Location=to, **headers)

    def signed_in(self) -> bool:
        cookie = SimpleCookie(self.headers.get("Cookie", "")).get("harbour")
        return cookie is not None and cookie.value in self.site.cookies

    def do_GET(self) -> None:  # noqa: N802
        path, _, _ = self.path.partition("?")
        open_to_all = {"/login": "login", "/form": "form", "/frame": "frame", "/covered": "covered", "/help": "help"}
        if path in open_to_all:
            self.page(open_to_all[path])
        elif path == "/":
            self.redirect("/orders")
        elif path == "/old":
            self.answer(302, "", Location="/orders")
        elif path == "/style.css":
            self.answer(200, (FILES / "style.css").read_bytes(), "text/css")
        elif path in ("/orders", "/orders.json", "/orders.csv", "/summary") and not self.signed_in():
            self.redirect("/login")
        elif path == "/orders":
            self.page("orders")
        elif path == "/orders.json":
            self.answer(200, json.dumps(self.site.orders), "application/json")
        elif path == "/orders.csv":
            lines = ["number,ship,berths,status"] + [",".join(str(value) for value in order.values()) for order in self.site.orders]
            name = 'attachment; filename="orders.csv"'
            self.answer(200, "\n".join(lines) + "\n", "text/csv", Content_Disposition=name)
        elif path == "/summary":
            time.sleep(self.site.slow_seconds)
            berths = sum(order["berths"] for order in self.site.orders if order["status"] == "open")
            self.answer(200, f"<p>{berths} berths are taken.</p>")
        else:
            self.answer(404, "<!doctype html><title>Not found</title><h1>There is no such page</h1>")

    def do_POST(self) -> None:  # noqa: N802
        length = min(int(self.headers.get("Content-Length") or 0), LARGEST_BODY)
        body = self.rfile.read(length)
        if self.path == "/login":
            fields = parse_qs(body.decode())
            if (fields.get("name"), fields.get("password")) == (["ada"], ["lovelace"]):
                cookie = secrets.token_hex(16)
                self.site.cookies.add(cookie)
                self.redirect("/orders", Set_Cookie=f"harbour={cookie}; HttpOnly; Path=/")
            else:
                self.redirect("/login?wrong")
        elif self.path == "/form":
            self.registered(body)
        elif (found := re.fullmatch(r"/orders/(\d+)/cancel", self.path)) and self.signed_in():
            for order in self.site.orders:
                if order["number"] == int(found.group(1)):
                    order["status"] = "cancelled"
            self.answer(200, "{}", "application/json")
        else:
            self.answer(404, "")

    def registered(self, body: bytes) -> None:
        header = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
        message = BytesParser(policy=HTTP).parsebytes(header + body)
        lines = []
        for part in message.iter_parts():
            name = part.get_param("name", header="Content-Disposition")
            data = part.get_payload(decode=True) or b""
            value = data.decode(errors="replace")
            if part.get_filename() is not None:
                value = f"{part.get_filename()} ({len(data)} bytes)" if part.get_filename() else ""
            lines.append(f"<li>{html.escape(str(name))}: {html.escape(value)}</li>")
        title = "<!doctype html><meta charset='utf-8'><title>Harbour office: registered</title>"
        self.answer(200, f"{title}<main><h1>Registered</h1><ul>{''.join(lines)}</ul></main>")


def main() -> None:
    with Site() as site:
        print(site.address, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
