"""Requests, and which of them are sent again."""

import inspect
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Generic
from urllib.parse import quote, urlencode

import httpx

from ._modes import M
from .errors import CloudRepositoryError, refusal, unexpected
from .models import File

Token = str | Callable[[], str] | Callable[[], Awaitable[str]] | None

#: A parameter of a query; several values are as many parameters.
Query = str | int | Sequence[str] | None


@dataclass(frozen=True)
class Retry:
    """How failed requests are repeated. Times are in seconds."""

    #: How often a request is sent without progress. 1 means no retry.
    tries: int = 5
    #: The longest wait. If the service asks for more (`Retry-After`), the call fails at once.
    max_wait: float = 60
    #: The wait before the first retry, without the random part. It doubles with each retry, up to 30.
    first_delay: float = 0.5


@dataclass(frozen=True)
class Call:
    method: str
    #: Relative to the address of the service, encoded.
    path: str
    query: Mapping[str, Query] | None = None
    headers: Mapping[str, str | None] | None = None
    json: Mapping[str, Any] | None = None
    body: Callable[[], AsyncGenerator[bytes, None]] | None = None
    #: Of the body.
    length: int = 0
    #: Seconds without a byte of the response after which it counts as lost.
    patience: float = 60


#: What became of a request whose response was lost, judged by the error of its repetition: `None` if it is unknown.
Settle = Callable[[CloudRepositoryError], Awaitable[Any]]


@dataclass(frozen=True)
class Http(Generic[M]):
    """Requests to one service. All methods raise `CloudRepositoryError`."""

    io: M
    url: str
    token: Token
    retry: Retry

    async def send(self, call: Call, stream: bool = False) -> httpx.Response:
        """Sends a request once. With `stream`, returns when the head of the response has arrived."""
        request = await self._request(call)
        try:
            response = await self.io.send(request, stream)
        except httpx.LocalProtocolError:
            raise  # The caller's, such as a line break in an etag.
        except httpx.RequestError as cause:
            raise CloudRepositoryError("connection_lost", "The connection to the service was lost.") from cause
        if response.is_success:
            return response
        content = b"".join([chunk async for chunk in self.stream(response)]) if stream else response.content
        raise refusal(response, content)

    async def stream(self, response: httpx.Response) -> AsyncGenerator[bytes, None]:
        """The content of a response, as it arrives."""
        try:
            async with aclosing(self.io.chunks(response)) as chunks:
                async for chunk in chunks:
                    yield chunk
        except httpx.RequestError as cause:
            raise CloudRepositoryError("connection_lost", "The response was cut off.") from cause
        finally:
            await self.io.close(response)

    async def call(self, call: Call, settle: Settle | None = None) -> Any:
        """Sends a request, also again after temporary failures. Returns the JSON of the response, if it has one."""
        attempts = Attempts(self)
        while True:
            try:
                response = await self.send(call)
                # A proxy or a page to sign in says 200, and has deleted nothing.
                if call.method == "DELETE" and response.status_code == 200:
                    raise unexpected(response, "deletion")
                return None if response.status_code in (202, 204) else json_of(response)
            except CloudRepositoryError as error:
                # A second `POST` would create a second thing, unless `settle` tells.
                if call.method == "POST" and settle is None and error.status not in (408, 429):
                    raise
                if attempts.is_uncertain and call.method == "DELETE" and _is_gone(error):
                    return None
                if attempts.is_uncertain and settle is not None:
                    outcome = await settle(error)
                    if outcome is not None:
                        return outcome
                await attempts.wait_after(error)

    async def pages(self, path: str, query: Mapping[str, Query]) -> AsyncGenerator[dict[str, Any], None]:
        """The pages of a listing. One without entries can have a cursor: only `None` ends the listing."""
        page = await self.call(Call("GET", path, query))
        yield page
        while page["next_cursor"] is not None:
            page = await self.call(Call("GET", path, {**query, "cursor": page["next_cursor"]}))
            yield page

    async def find_file(self, name: str, path: str = "users/me/repo") -> File | None:
        """Reads a listing that begins with the file, because no other request returns one as JSON."""
        files: list[File] = (await self.call(Call("GET", path, {"prefix": name, "limit": 1})))["files"]
        return files[0] if files and files[0]["name"] == name else None

    async def _request(self, call: Call) -> httpx.Request:
        token: Any = self.token() if callable(self.token) else self.token
        token = await token if inspect.isawaitable(token) else token
        query = urlencode({name: value for name, value in (call.query or {}).items() if value is not None}, doseq=True)
        headers = {
            # Compressed content would have another length, and no etag.
            "accept-encoding": "identity",
            "authorization": None if token is None else f"Bearer {token}",
            "content-length": None if call.body is None else str(call.length),
            **(call.headers or {}),
        }
        return self.io.client.build_request(
            call.method,
            f"{self.url}/{call.path}{'?' if query else ''}{query}",
            headers={name: value for name, value in headers.items() if value is not None},
            json=call.json,
            content=self.io.body(call.body()) if call.body is not None and call.length > 0 else None,
            timeout=httpx.Timeout(call.patience, write=120, pool=None),
        )


class Attempts:
    """The attempts at one request, or at one transfer that continues after each interruption."""

    def __init__(self, http: Http[Any]) -> None:
        self._http = http
        self._failures = 0
        #: Whether a failed attempt may have taken effect.
        self.is_uncertain = False

    def reset(self) -> None:
        """Call it when a transfer makes progress: the next failure is the first again."""
        self._failures = 0

    async def wait_after(self, error: CloudRepositoryError, *also: int) -> None:
        """Waits before the next attempt: exponentially longer with a random part, and at least `Retry-After`.

        Raises `error` if a retry cannot help, if there were enough of them, or if the wait would be too long. A retry
        also helps after the statuses `also`.
        """
        retry, least = self._http.retry, error.retry_after or 0
        self._failures += 1
        is_hopeless = not is_temporary(error) and error.status not in also
        if is_hopeless or self._failures >= retry.tries or least > retry.max_wait:
            raise error
        self.is_uncertain = self.is_uncertain or error.status not in (408, 429)
        delay = min(retry.first_delay * 2 ** (self._failures - 1), 30) * random.uniform(0.5, 1.5)
        await self._http.io.sleep(max(least, min(delay, retry.max_wait)))


def is_temporary(error: CloudRepositoryError) -> bool:
    """Whether the same request may succeed later."""
    if error.status is None:
        return error.code == "connection_lost"
    return error.status >= 500 or error.status in (408, 429)


def _is_gone(error: CloudRepositoryError) -> bool:
    """Whether there is nothing to delete. An upload that has become a file is not deleted."""
    is_file = error.problem.get("outcome") == "finished"
    return error.code in ("not_found", "version_gone", "upload_gone") and not is_file


def json_of(response: httpx.Response) -> Any:
    try:
        return response.json()
    except ValueError as cause:
        raise unexpected(response, "JSON") from cause


def conditions(if_match: str | None, if_none_match: str | None = None) -> dict[str, str | None]:
    """The headers for etags, or `*` for any file."""
    etags = {"if-match": if_match, "if-none-match": if_none_match}
    return {name: etag if etag in (None, "*") else f'"{etag}"' for name, etag in etags.items()}


def segment(name: str) -> str:
    """Percent-encodes a name or an id. Raises for what is no segment: the URL would be that of something else."""
    try:
        if name not in ("", ".", ".."):
            return quote(name, safe="")
    except UnicodeEncodeError:
        pass  # With an unpaired surrogate, a name has no UTF-8.
    raise CloudRepositoryError("invalid_file_name", f"{name!r} is no segment of a path.")


def encode_file_path(name: str) -> str:
    """Percent-encodes the segments of a file name, between its slashes. Raises for what is none, as `segment` does."""
    path = name.removesuffix("/")  # That of a marker begins no segment.
    return "/".join(map(segment, path.split("/"))) + name[len(path) :]
