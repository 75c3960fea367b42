"""What an upload sends."""

import hashlib
import io
import os
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable
from dataclasses import dataclass
from typing import IO, Any

from ._modes import Outside

#: No `str`, which could be meant as text or as a path.
Content = bytes | bytearray | memoryview | os.PathLike[str] | IO[bytes] | Iterable[bytes] | AsyncIterable[bytes]

#: Content up to this size is sent in one request, and a stream in parts of this size.
PART_BYTES = 8 * 1024 * 1024
CHUNK_BYTES = 256 * 1024


def open_content(content: Any) -> Any:
    """A file whose position can be set, or an iterator."""
    if isinstance(content, os.PathLike):
        return open(content, "rb")
    if isinstance(content, (bytes, bytearray, memoryview)):
        return io.BytesIO(content)
    if hasattr(content, "read"):
        return content if content.seekable() else iter(lambda: content.read(CHUNK_BYTES), b"")
    if isinstance(content, str):
        raise TypeError("A str could be text or a path: pass bytes, or a pathlib.Path.")
    return aiter(content) if hasattr(content, "__aiter__") else iter(content)


class Sha256:
    """The digest of content that is read in order, and some of it again."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()
        self.size = 0

    def update(self, at: int, chunk: bytes) -> None:
        if at <= self.size < at + len(chunk):
            self.hash.update(memoryview(chunk)[self.size - at :])
            self.size = at + len(chunk)


@dataclass(frozen=True)
class Part:
    """The bytes from `start` to `end` of the content, which can be read again."""

    outside: Outside
    file: IO[bytes]
    #: Where in `file` the content begins.
    origin: int
    start: int
    end: int
    is_last: bool
    sha256: Sha256

    async def read(self, at: int, end: int, report: Callable[[int], None]) -> AsyncGenerator[bytes, None]:
        while at < end:
            report(at)
            chunk = await self.outside.call(self._read, at, min(end - at, CHUNK_BYTES))
            at += len(chunk)
            yield chunk

    async def digest(self) -> str:
        """SHA-256 of all content up to the end of this part, in hexadecimal. Reads what has not been read yet."""
        async for _ in self.read(self.sha256.size, self.end, lambda _: None):
            pass
        return self.sha256.hash.hexdigest()

    def _read(self, at: int, limit: int) -> bytes:
        self.file.seek(self.origin + at)
        chunk = self.file.read(limit)
        if not chunk:
            raise EOFError("The content became shorter while it was read.")
        self.sha256.update(at, chunk)
        return chunk


async def parts_of(outside: Outside, content: Any) -> AsyncGenerator[Part, None]:
    """The parts of opened content: one of a file, and those of a stream, of which the last can be empty."""
    sha256 = Sha256()
    if hasattr(content, "seek"):
        origin = content.tell()
        end = content.seek(0, os.SEEK_END) - origin
        yield Part(outside, content, origin, 0, end, True, sha256)
        return
    start, rest = 0, bytearray()
    while (chunk := await outside.next(content)) is not None:
        rest += chunk
        while len(rest) >= PART_BYTES:
            end = start + PART_BYTES
            yield Part(outside, io.BytesIO(rest[:PART_BYTES]), -start, start, end, False, sha256)
            del rest[:PART_BYTES]
            start = end
    yield Part(outside, io.BytesIO(rest), -start, start, start + len(rest), True, sha256)
