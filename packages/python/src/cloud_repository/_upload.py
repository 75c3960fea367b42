"""Uploads: in one request up to 8 MiB, and with tus 1.0 (docs/api.md, Resumable uploads) beyond."""

import hashlib
import json
from base64 import b64encode
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, cast

from ._content import SMALL_BYTES, Content, Source, open_source
from ._http import Attempts, Call, Http, encode_file_path
from .errors import CloudRepositoryError, unexpected
from .models import UploadedFile

UPLOADS = "users/me/uploads"
TUS = {"tus-resumable": "1.0.0"}

#: A metadata key that tells the client's own uploads apart. The service keeps it and shows it to the owner.
MARKER = "client-key"

#: When all bytes are sent, the service may still have to read them again.
STORING_SECONDS = 600


@dataclass(frozen=True)
class Terms:
    name: str
    query: dict[str, str | int | None]
    #: The conditions.
    headers: dict[str, str | None]
    media_type: str | None
    metadata: Mapping[str, str] | None
    on_progress: Callable[[int, int], None] | None


async def upload(http: Http[Any], content: Content, terms: Terms) -> UploadedFile:
    encode_file_path(terms.name)  # Refuses what is no name before it reads anything.
    async with open_source(http.io, content) as source:
        transfer = _Transfer(http, terms, source)
        file = await (transfer.put() if source.size <= SMALL_BYTES else transfer.send())
        # A token that may not read the file is not told the digest, which the service has compared.
        if file.get("sha256", source.sha256) != source.sha256:
            detail = f"The stored file has the digest {file['sha256']} instead of {source.sha256}."
            raise CloudRepositoryError("digest_mismatch", detail, sha256=file["sha256"])
        return file


class _Transfer:
    """One upload. The service tells what it has got of it, over as many requests as it takes."""

    def __init__(self, http: Http[Any], terms: Terms, source: Source) -> None:
        self._http = http
        self._terms = terms
        self._source = source
        self._attempts = Attempts(http)
        self._path = ""
        self._digest = {"repr-digest": f"sha-256=:{_base64(bytes.fromhex(source.sha256))}:"}
        compact = json.dumps(terms.metadata, ensure_ascii=False, separators=(",", ":"))
        self._metadata = None if terms.metadata is None else compact

    async def put(self) -> UploadedFile:
        """Sends the content in one request, and again after a temporary failure."""
        media_type = self._terms.media_type or "application/octet-stream"
        # Headers are in ASCII.
        described = {"content-type": media_type, "file-metadata": self._metadata and json.dumps(self._terms.metadata)}
        headers = {**described, **self._digest, **self._terms.headers}
        call = Call("PUT", f"users/me/repo/{encode_file_path(self._terms.name)}", self._terms.query, headers)
        file = await self._http.call(self._with_body(call, 0), self._settle)
        self._report(self._source.size)
        return cast(UploadedFile, file)

    async def send(self) -> UploadedFile:
        """Sends the content with tus. Continues what an earlier call has left of the same content and terms."""
        while True:
            try:
                return await self._send()
            except CloudRepositoryError as error:
                if error.code == "precondition_failed" and self._path:
                    # No later append can succeed. If this fails, the service ends the upload later.
                    with suppress(CloudRepositoryError):
                        await self._http.send(Call("DELETE", self._path, headers=TUS, patience=5))
                if error.code == "upload_gone" and error.problem.get("outcome") == "finished":
                    raise _superseded() from error
                # Begins anew if the upload has expired, or the service has lost its bytes.
                is_lost = error.problem.get("outcome", "expired") in ("expired", "lost")
                if not is_lost or error.code not in ("not_found", "upload_gone"):
                    raise
                await self._attempts.wait_after(error, 404, 410)

    async def _settle(self, error: CloudRepositoryError) -> Any:
        """The attempt whose response was lost may have stored the file, which then no longer meets the condition."""
        if error.code != "precondition_failed":
            return None
        try:
            file = await self._http.find_file(self._terms.name)
        except CloudRepositoryError as cause:
            # A token that may not read the file leaves the refusal as the best answer.
            raise (error if cause.code == "scope_insufficient" else cause) from cause
        return file if file is not None and file["sha256"] == self._source.sha256 else None

    async def _send(self) -> UploadedFile:
        offset, is_stored = await self._begin()
        is_stuck = False
        while not is_stored:
            began = offset
            try:
                # The response to a refused append can be lost while its content is sent. Without content, it arrives.
                offset, is_stored = await self._append(began, is_empty=is_stuck)
                is_stuck = False
            except CloudRepositoryError as error:
                await self._attempts.wait_after(error, 409, 423)
                offset, is_stored = await self._ask_offset()
                is_stuck = offset == began
            self._report(offset)
            if offset > began:
                self._attempts.reset()
        # The response to the last append does not describe the file.
        upload = await self._http.call(Call("GET", self._path))
        if upload["file"] is None:
            raise _superseded()
        return cast(UploadedFile, upload["file"])

    async def _begin(self) -> tuple[int, bool]:
        """Looks for the upload before it creates one: the response to a creation can be lost.

        Returns the offset, and whether the file is stored.
        """
        terms, described = self._terms, {"filetype": self._terms.media_type, "metadata": self._metadata}
        pairs = {"filename": terms.name, MARKER: self._marker(), **described}
        metadata = ",".join(f"{key} {_base64(value.encode())}" for key, value in pairs.items() if value is not None)
        size = {"upload-length": str(self._source.size)}
        headers = {**TUS, **size, "upload-metadata": metadata, **self._digest, **terms.headers}
        while True:
            found = await self._find()
            if found is not None:
                self._path = f"{UPLOADS}/{found}"
                return await self._ask_offset()
            try:
                response = await self._http.send(Call("POST", UPLOADS, terms.query, headers))
                if "location" not in response.headers:
                    raise unexpected(response, "Location")
                self._path = f"{UPLOADS}/{response.headers['location'].rsplit('/', 1)[-1]}"
                return 0, False
            except CloudRepositoryError as error:
                await self._attempts.wait_after(error)

    async def _append(self, start: int, *, is_empty: bool) -> tuple[int, bool]:
        """Sends the rest, or nothing of it. Returns the offset after it, and whether the file is stored."""
        headers = {**TUS, "content-type": "application/offset+octet-stream", "upload-offset": str(start)}
        call = Call("PATCH", self._path, headers=headers)
        offset = await self._ask(call if is_empty else self._with_body(call, start))
        if offset == start < self._source.size and not is_empty:
            raise CloudRepositoryError("connection_lost", "No byte was recorded.")
        return offset, offset == self._source.size

    async def _ask_offset(self) -> tuple[int, bool]:
        """Stops the append that was cut off, if it still runs."""
        while True:
            try:
                offset = await self._ask(Call("HEAD", self._path, headers=TUS))
                return offset, offset == self._source.size
            except CloudRepositoryError as error:
                if error.status in (403, 412):
                    # The file could not be stored. An append at the end tries again, and gets the reason.
                    return self._source.size, False
                await self._attempts.wait_after(error, 409, 423)

    async def _ask(self, call: Call) -> int:
        """The offset that the service tells."""
        try:
            response = await self._http.send(call)
        except CloudRepositoryError as error:
            if error.status in (404, 410):
                await self._http.call(Call("GET", self._path))  # Raises why there is no such upload any more.
            raise
        offset = response.headers.get("upload-offset", "")
        if not offset.isdecimal():
            raise unexpected(response, "Upload-Offset")
        return int(offset)

    async def _find(self) -> str | None:
        """The id of the unfinished upload of this content with these terms."""
        marker = self._marker()
        async for page in self._http.pages(UPLOADS, {"limit": 1000}):
            for one in page["uploads"]:
                if one["name"] == self._terms.name and one["metadata"].get(MARKER) == marker:
                    return str(one["upload_id"])
        return None

    def _marker(self) -> str:
        terms = self._terms
        same = [self._source.sha256, terms.name, terms.query, terms.headers, terms.media_type, self._metadata]
        return hashlib.sha256(json.dumps(same).encode()).hexdigest()

    def _with_body(self, call: Call, start: int) -> Call:
        def body() -> Any:
            return self._source.read(start, self._report)

        return replace(call, body=body, length=self._source.size - start, patience=STORING_SECONDS)

    def _report(self, sent: int) -> None:
        if self._terms.on_progress is not None:
            self._terms.on_progress(sent, self._source.size)


def _superseded() -> CloudRepositoryError:
    detail = "The upload was stored, and the file has been replaced, renamed or deleted since."
    return CloudRepositoryError("upload_superseded", detail)


def _base64(content: bytes) -> str:
    return b64encode(content).decode()
