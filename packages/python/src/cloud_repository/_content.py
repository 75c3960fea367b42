"""What an upload sends."""

import hashlib
import io
import os
import tempfile
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import IO, Any

from ._modes import Outside

#: No `str`, which could be meant as text or as a path.
Content = bytes | bytearray | memoryview | os.PathLike[str] | IO[bytes] | Iterable[bytes] | AsyncIterable[bytes]

#: Content up to this size is kept in memory, and sent in one request.
SMALL_BYTES = 8 * 1024 * 1024
CHUNK_BYTES = 256 * 1024


@dataclass(frozen=True)
class Source:
    """Content that can be read again."""

    outside: Outside
    file: Any
    #: Where in `file` the content begins.
    origin: int
    size: int
    #: In hexadecimal.
    sha256: str

    async def read(self, at: int, report: Callable[[int], None]) -> AsyncGenerator[bytes, None]:
        """The bytes from `at` to the end."""
        while at < self.size:
            report(at)
            chunk = await self.outside.call(self._read, at)
            at += len(chunk)
            yield chunk

    def _read(self, at: int) -> bytes:
        self.file.seek(self.origin + at)
        chunk: bytes = self.file.read(min(self.size - at, CHUNK_BYTES))
        if not chunk:
            raise EOFError("The content became shorter while it was read.")
        return chunk


@asynccontextmanager
async def open_source(outside: Outside, content: Any) -> AsyncGenerator[Source, None]:
    """Copies what can be read only once, such as an iterator, to a temporary file."""
    file: Any = await outside.call(_open, content)
    try:
        if isinstance(file, tempfile.SpooledTemporaryFile) and file is not content:
            chunks = _iterator_of(content)
            while (chunk := await outside.next(chunks)) is not None:
                await outside.call(file.write, chunk)
        origin = file.tell() if file is content else 0
        yield Source(outside, file, origin, *await outside.call(_measure, file, origin))
    finally:
        if file is not content:
            file.close()


def _open(content: Any) -> Any:
    if isinstance(content, str):
        raise TypeError("A str could be text or a path: pass bytes, or a pathlib.Path.")
    if isinstance(content, os.PathLike):
        return open(content, "rb")
    if isinstance(content, (bytes, bytearray, memoryview)):
        return io.BytesIO(content)
    if hasattr(content, "seek") and content.seekable():
        return content
    return tempfile.SpooledTemporaryFile(SMALL_BYTES)


def _iterator_of(content: Any) -> Any:
    if hasattr(content, "read"):
        return iter(lambda: content.read(CHUNK_BYTES), b"")
    return aiter(content) if hasattr(content, "__aiter__") else iter(content)


def _measure(file: Any, origin: int) -> tuple[int, str]:
    """The size and the digest of the content."""
    file.seek(origin)
    sha256 = hashlib.sha256()
    while chunk := file.read(CHUNK_BYTES):
        sha256.update(chunk)
    return file.tell() - origin, sha256.hexdigest()
