"""Downloads: of files, which continue where they were cut, and of archives."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from base64 import b64decode
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import IO

import httpx

from ._http import Attempts, Call, Http, conditions
from ._modes import Iteration, M, Verb
from .errors import CloudRepositoryError, unexpected

#: A path, or a binary file.
Target = str | os.PathLike[str] | IO[bytes]


class Incoming(Iteration[M, bytes]):
    """Content that arrives. Iterate it, or `read` it, or `close` it."""

    _response: httpx.Response

    @Verb
    async def read(self) -> bytes:
        """All of the content."""
        return b"".join([chunk async for chunk in self._begin()])

    @Verb
    async def close(self) -> None:
        """Ends a download that is not read to its end."""
        await self._io.close(self._response)

    async def _write(self, to: Target | None) -> None:
        if isinstance(to, (str, os.PathLike)):
            await self._save(os.path.realpath(to))
        elif to is not None:
            await self._copy(to)

    async def _save(self, path: str) -> None:
        """The file appears, or is replaced, when all of the content has arrived."""
        # Not longer than the name, which can be as long as the file system allows.
        part = os.path.join(os.path.dirname(path), f".{secrets.token_hex(4)}.part")
        try:
            with open(part, "xb") as file:
                await self._copy(file)
            os.replace(part, path)
        finally:
            if os.path.exists(part):
                os.remove(part)

    async def _copy(self, file: IO[bytes]) -> None:
        async for chunk in self._begin():
            await self._io.call(file.write, chunk)


class Download(Incoming[M]):
    """A file that is being downloaded. Iterate it for its content, or `read` it, or `close` it.

    After a lost connection, the content continues where it was cut, and only with the same version of the file. Raises
    `file_changed` if that is gone, `digest_mismatch` if the whole file does not have its digest, and `connection_lost`
    after five attempts without a byte.
    """

    #: The number of bytes of the content, and of the whole file.
    size: int
    file_size: int
    etag: str
    #: SHA-256 of the whole file in hexadecimal.
    sha256: str | None

    def __init__(self, http: Http[M], path: str, start: int, end: int | None) -> None:
        # The service would ignore any other range, and send the whole file.
        if start < 0 or (end is not None and end <= start):
            raise ValueError("A range has at least one byte.")
        super().__init__(http.io, self._chunks)
        self._http = http
        self._path = path
        self._start = start
        self._last = "" if end is None else str(end - 1)
        self._attempts = Attempts(http)

    async def open(self, to: Target | None) -> Download[M]:
        """Returns when the head of the response has arrived, or all of the content is written."""
        self._response, self._end, self.file_size, self.etag = await self._ask(self._start, None)
        self.size = self._end - self._start
        found = re.search(r"sha-256=:([A-Za-z0-9+/=]+):", self._response.headers.get("repr-digest", ""))
        self.sha256 = None if found is None else b64decode(found[1]).hex()
        await self._write(to)
        return self

    async def _chunks(self) -> AsyncGenerator[bytes, None]:
        at, sha256 = self._start, hashlib.sha256()
        if self._response.is_closed and self.size > 0:  # It was read before.
            self._response, *_ = await self._ask(at, self.etag)
        while at < self._end:
            try:
                async with aclosing(self._http.stream(self._response)) as chunks:
                    async for chunk in chunks:
                        self._attempts.reset()
                        at += len(chunk)
                        sha256.update(chunk)
                        yield chunk
                if at < self._end:
                    raise CloudRepositoryError("connection_lost", "The response was cut off.")
            except CloudRepositoryError as error:
                await self._attempts.wait_after(error)
                self._response, *_ = await self._ask(at, self.etag)
        await self._io.close(self._response)
        if self.size == self.file_size and self.sha256 not in (None, sha256.hexdigest()):
            detail = f"The content has the digest {sha256.hexdigest()} instead of {self.sha256}."
            raise CloudRepositoryError("digest_mismatch", detail, sha256=sha256.hexdigest())

    async def _ask(self, start: int, etag: str | None) -> tuple[httpx.Response, int, int, str]:
        """Asks for the bytes from `start` on, of the same version if there is an etag.

        Returns the response, where it ends, the size of the file, and its etag.
        """
        is_part = start > 0 or self._last != ""
        ranged = {"range": f"bytes={start}-{self._last}"} if is_part else {}
        call = Call("GET", self._path, headers={**conditions(etag), "want-repr-digest": "sha-256=1", **ranged})
        while True:
            try:
                response = await self._http.send(call, stream=True)
                extent = _extent_of(response.headers, is_part)
                if extent is None or extent[0] != start:
                    await self._io.close(response)
                    raise unexpected(response, "requested bytes")
                return response, *extent[1:]
            except CloudRepositoryError as error:
                if etag is not None and error.code in ("precondition_failed", "not_found", "version_gone"):
                    detail = "The file has changed during the download."
                    raise CloudRepositoryError("file_changed", detail) from error
                await self._attempts.wait_after(error)


class Archive(Incoming[M]):
    """A ZIP archive that is being downloaded. Iterate it for its content, or `read` it, or `close` it.

    It cannot be continued, because the service makes each archive anew: raises `connection_lost` if not all of it
    arrives.
    """

    #: The number of bytes of the content.
    size: int

    def __init__(self, http: Http[M], path: str, prefix: str | None, names: Sequence[str] | None) -> None:
        # Without a name, the service would send all files.
        if names is not None and len(names) == 0:
            raise ValueError("An archive has at least one file.")
        super().__init__(http.io, self._chunks)
        self._http = http
        self._call = Call("GET", path, {"prefix": prefix, "name": names})

    async def open(self, to: Target | None) -> Archive[M]:
        """Returns when the head of the response has arrived, or all of the content is written."""
        self._response = await self._ask()
        self.size = int(self._response.headers["content-length"])
        await self._write(to)
        return self

    async def _chunks(self) -> AsyncGenerator[bytes, None]:
        received = 0
        async with aclosing(self._http.stream(self._response)) as chunks:
            async for chunk in chunks:
                received += len(chunk)
                yield chunk
        if received < self.size:
            raise CloudRepositoryError("connection_lost", "The response was cut off.")

    async def _ask(self) -> httpx.Response:
        attempts = Attempts(self._http)
        while True:
            try:
                response = await self._http.send(self._call, stream=True)
                if not response.headers.get("content-length", "").isdecimal():
                    await self._io.close(response)
                    raise unexpected(response, "Content-Length")
                return response
            except CloudRepositoryError as error:
                await attempts.wait_after(error)


def _extent_of(headers: httpx.Headers, is_part: bool) -> tuple[int, int, int, str] | None:
    """The first byte and the end of the content, the size of the file, and its etag.

    A weak etag is none: a proxy has changed the content, and so its length.
    """
    length = headers.get("content-length", "")
    whole = f"bytes 0-{int(length) - 1}/{length}" if length.isdecimal() else ""
    found = re.fullmatch(r"bytes (\d+)-(-?\d+)/(\d+)", headers.get("content-range", "") if is_part else whole)
    etag = re.fullmatch(r'"(.+)"', headers.get("etag", ""))
    return (int(found[1]), int(found[2]) + 1, int(found[3]), etag[1]) if found and etag else None
