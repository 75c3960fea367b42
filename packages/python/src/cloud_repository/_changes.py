"""The feed of changes, as server-sent events."""

import json
import random
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, cast

from ._http import Call, Http, is_temporary
from .errors import CloudRepositoryError, unexpected
from .models import Change

CHANGES = "users/me/changes"
MAX_RECONNECT_SECONDS = 30


async def follow(http: Http[Any], cursor: str | None) -> AsyncGenerator[Change, None]:
    if cursor is None:
        cursor = (await http.call(Call("GET", CHANGES)))["next_cursor"]
    failures = 0
    while True:
        delay, least = 2.0**failures, 0
        # The service sends a comment every 15 seconds.
        call = Call("GET", CHANGES, {"cursor": cursor}, {"accept": "text/event-stream"}, patience=45)
        try:
            response = await http.send(call, stream=True)
            async with aclosing(http.stream(response)) as chunks:
                if not response.headers.get("content-type", "").startswith("text/event-stream"):
                    raise unexpected(response, "events")
                async for event in _events(chunks):
                    failures = 0
                    delay = int(event.get("retry", delay * 1000)) / 1000
                    cursor = event.get("id", cursor)
                    if "data" in event:
                        yield cast(Change, {**json.loads(event["data"]), "cursor": cursor})
        except CloudRepositoryError as error:
            if not is_temporary(error):
                raise
            failures, least = min(failures + 1, 9), error.retry_after or 0
        await http.io.sleep(max(least, min(delay, MAX_RECONNECT_SECONDS) * random.uniform(0.5, 1)))


async def _events(chunks: AsyncGenerator[bytes, None]) -> AsyncGenerator[dict[str, str], None]:
    """The fields of events (WHATWG HTML, 9.2.6), as far as the service uses the format: one line for each field."""
    rest = b""
    async for chunk in chunks:
        # An event that is cut off comes again after the reconnect.
        *blocks, rest = (rest + chunk).split(b"\n\n")
        for block in blocks:
            lines = block.decode().split("\n")
            yield {name: value for name, _, value in (line.partition(": ") for line in lines)}
