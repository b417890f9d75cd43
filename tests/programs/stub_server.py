"""The real server over sources that do as they are told; run as a program it is a process for the tests of stdin and stdout.

The first word of a question is the order: what this stand-in does is the only thing that differs from `python mcp_books.py`.
"""
from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import Any

for _place in Path(__file__).resolve().parents[1:3]:  # the tests and the program
    sys.path.insert(0, str(_place))

import mcp_books
from sources.answers import AllFailed, Report
from sources.errors import ArchiveUnreachable, Cancelled, InvalidInput, RecordNotFound, SourceError
from sources.settings import Settings
from sources.telling.fit import Result

SEPARATORS = "one\u2028two\u2029three\u0085four"


class StubClient:
    """Obeys the question. `stopped` counts the slow calls that noticed their cancellation."""

    def __init__(self) -> None:
        self.stopped = 0
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def status(self) -> dict[str, Any]:
        return {"archives": [{"source": "archive"}]}

    def ask(self, tool: str, arguments: Any, call: Any) -> dict[str, Any]:
        self.asked.append((tool, dict(arguments)))
        order, _, rest = str(arguments.get("query") or arguments.get("identifier") or "").partition(" ")
        if order == "refuse" or "limit" in arguments and not isinstance(arguments["limit"], int):
            raise InvalidInput("limit is no number.")
        if order == "fail":
            raise ArchiveUnreachable("The archive did not answer.", archive="archive", retry_after_s=60)
        if order == "all":
            error = {"code": "timeout", "message": "Silent.", "hint": "Ask later."}
            raise AllFailed((Report(source="archive", name="the Archive", status="failed", stage="search", error=error),))
        if order in ("unknown", "archive:unknown"):
            raise RecordNotFound("No such record.")
        if order == "bug":
            raise ZeroDivisionError("a fault of the program at /secret/path.py")
        if order == "slow":
            self._wait(call, float(rest))
        if order == "hold":
            threading.Thread(target=threading.Event().wait, args=(60,), daemon=False).start()
        if order == "noisy":
            print("a library prints")
            os.write(1, b"and writes to descriptor 1\n")
            print("x" * int(rest or 0), file=sys.stderr)
        text = SEPARATORS + ("\ud800 щ" if order == "separators" else "")
        return {"query": order, "number": float("nan") if order == "nan" else 1, "text": text, "rest": rest}

    def _wait(self, call: Any, seconds: float) -> None:
        """Wait until the time is up, telling progress five times a second, or until the call is taken back."""
        taken_back = threading.Event()
        call.when_cancelled(taken_back.set)
        for tenth in range(int(seconds * 5)):
            call.tell(f"waited {tenth / 5:g} s")
            if taken_back.wait(0.2):
                self.stopped += 1
                raise Cancelled("taken back")


class StubServer(mcp_books.Server):
    """Real tools, a client and a rendering of its own."""

    def __init__(self, settings: Settings | None = None, stub: StubClient | None = None) -> None:
        super().__init__(settings or Settings())
        self.stub = stub or StubClient()
        self.warmings = 0

    def instructions(self) -> str:
        return "Ask the archives."

    def ask(self, tool: str, arguments: Any, request: Any) -> Any:
        payload = self.stub.ask(tool, arguments, request.call)
        return Result(text=f"{tool}: {payload['query']}", payload=payload)

    def explain(self, error: SourceError) -> str:
        return f"{error.code}: {error.message}"

    def client(self) -> Any:
        return self.stub

    def warm(self) -> None:
        self.warmings += 1


if __name__ == "__main__":
    mcp_books.Server = StubServer  # type: ignore[misc]  # the whole of the stand-in
    sys.exit(mcp_books.main(sys.argv[1:]))
