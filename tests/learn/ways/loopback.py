"""A server on loopback in the API's place: it plays a script, and keeps what it was asked."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-" + "loopback-" + "0123456789abcdef"


def message(text: str, stop: str = "end_turn", **usage: int) -> dict[str, Any]:
    counts = {
        "input_tokens": 100,
        "output_tokens": 50,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
    }
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-5-5",
        "content": [{"type": "text", "text": text}], "stop_reason": stop, "stop_sequence": None, "usage": {**counts, **usage},
    }  # fmt: skip


def error(kind: str, words: str = "no") -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": words}}


class Loopback:
    """Answers requests one after the other by `script`; its last entry goes on for ever.

    An entry: `(status, body)`, with a body of bytes sent as it is; a number: seconds of silence; or a function of the request that gives an entry.
    """

    def __init__(self, *script: Any):
        self.script = list(script)
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.requests.append(body)
                outer.headers.append({name.lower(): value for name, value in self.headers.items()})
                entry = outer.script.pop(0) if len(outer.script) > 1 else outer.script[0]
                if isinstance(entry, Callable):  # type: ignore[arg-type]
                    entry = entry(body)
                if isinstance(entry, int | float):
                    time.sleep(entry)
                    return
                status, value = entry
                data = value if isinstance(value, bytes) else json.dumps(value).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.send_header("retry-after", "0")
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    @property
    def variables(self) -> dict[str, str]:
        host, port = self.server.server_address[:2]
        return {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": f"http://{host}:{port}"}

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
