"""Uploads: in one request up to 8 MiB, and with tus 1.0 (docs/api.md, Resumable uploads) beyond."""

import hashlib
import json
import os
import secrets
from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, cast

from ._content import PART_BYTES, Content, Part, open_content, parts_of
from ._http import Attempts, Call, Http, Retry, segment
from .errors import CloudRepositoryError, unexpected
from .models import UnfinishedUpload, UploadedFile

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
    #: `True`: to be computed before anything is sent.
    digest: str | bool | None
    #: Names the content for a later upload that continues this one.
    resume_key: str | None
    on_progress: Callable[[int, int | None], None] | None


async def upload(http: Http[Any], content: Content, terms: Terms) -> UploadedFile:
    segment(terms.name)  # Refuses what is no name before it reads anything.
    opened = await http.io.call(open_content, content)
    try:
        if terms.resume_key is None and isinstance(content, os.PathLike):
            key = f"{os.path.abspath(content)} {os.fstat(opened.fileno()).st_mtime_ns}"
            terms = replace(terms, resume_key=key)
        parts = parts_of(http.io, opened)
        transfer = _Transfer(http, terms, parts, await anext(parts))
        file = await transfer.run()
        sha256 = await transfer.part.digest()
        if file["sha256"] != sha256:
            detail = f"The stored file has the digest {file['sha256']} instead of {sha256}."
            raise CloudRepositoryError("digest_mismatch", detail, sha256=file["sha256"])
        return file
    finally:
        if isinstance(content, os.PathLike):
            opened.close()


class _Transfer:
    """One upload. The service tells what it has got of it, over as many requests as it takes."""

    def __init__(self, http: Http[Any], terms: Terms, parts: Any, part: Part) -> None:
        self.part = part
        self._http = http
        self._terms = terms
        self._parts = parts
        self._digest: str | None = None
        self._attempts = Attempts(http)
        self._marker = secrets.token_hex(16)
        self._path = ""

    async def run(self) -> UploadedFile:
        digest, is_small = self._terms.digest, self.part.is_last and self.part.end <= PART_BYTES
        given = await self.part.digest() if digest is True or (digest is None and is_small) else digest or None
        self._digest = given
        if is_small:
            return await self._put()
        previous = None
        if self._terms.resume_key is not None:
            terms = self._terms
            same = [terms.resume_key, self.part.end, terms.name, terms.query, terms.headers, given]
            self._marker = hashlib.sha256(json.dumps(same).encode()).hexdigest()
            previous = await self._find(self._http)
        while True:
            try:
                if previous is not None:
                    # Proves that the bytes of the earlier process are those of this content.
                    self._digest = given or await self.part.digest()
                file = await self._send(previous)
                # Another process, or the question for the offset, may have stored it without the digest of this one.
                if previous is None or file["sha256"] == self._digest:
                    return file
            except CloudRepositoryError as error:
                if previous is None or error.code != "digest_mismatch":
                    await self._cancel(error)
                    await self._restart(error)
            except BaseException as error:
                await self._cancel(error)
                raise
            previous, self._digest = None, given

    async def _put(self) -> UploadedFile:
        """Sends the content in one request, and again after a temporary failure."""
        headers = {"content-type": "application/octet-stream", **self._digest_header(), **self._terms.headers}
        call = Call("PUT", f"users/me/repo/{segment(self._terms.name)}", self._terms.query, headers)
        file = await self._http.call(self._with_body(call, 0, self.part.end), self._settle)
        self._report(self.part.end)
        return cast(UploadedFile, file)

    async def _settle(self, error: CloudRepositoryError) -> Any:
        """The attempt whose response was lost may have stored the file, which then no longer meets the condition."""
        if error.code != "precondition_failed":
            return None
        try:
            file = await self._http.find_file(self._terms.name)
        except CloudRepositoryError as cause:
            # A token that may not read the file leaves the refusal as the best answer.
            raise (error if cause.code == "scope_insufficient" else cause) from cause
        return file if file is not None and file["sha256"] == await self.part.digest() else None

    async def _send(self, previous: UnfinishedUpload | None) -> UploadedFile:
        upload_id = await self._create() if previous is None else previous["upload_id"]
        self._path = f"{UPLOADS}/{upload_id}"
        offset, is_stored = (0, False) if previous is None else await self._ask_offset()
        is_stuck = False
        while not is_stored:
            if offset >= self.part.end and not self.part.is_last:
                self.part = await anext(self._parts)
                continue
            began = offset
            try:
                # The response to a refused append can be lost while its content is sent. Without content, it arrives.
                offset, is_stored = await self._append(began, began if is_stuck else self.part.end)
                is_stuck = False
            except CloudRepositoryError as error:
                await self._attempts.wait_after(error, 409, 423)
                offset, is_stored = await self._ask_offset()
                is_stuck = offset == began
            self._report(offset)
            if offset > began:
                self._attempts.reset()
        # The response to the last append does not describe the file.
        upload = await self._http.get(UnfinishedUpload, self._path)
        if upload["file"] is None:
            raise _superseded()
        return cast(UploadedFile, upload["file"])

    async def _append(self, start: int, end: int) -> tuple[int, bool]:
        """Sends a section of the part. Returns the offset after it, and whether the file is stored."""
        if start < self.part.start:
            detail = "The upload continues before the part of the stream that is in memory."
            raise CloudRepositoryError("offset_mismatch", detail, offset=start, provided_offset=self.part.start)
        headers = {**TUS, "content-type": "application/offset+octet-stream", "upload-offset": str(start)}
        length = {"upload-length": str(self.part.end)} if self.part.is_last else {}
        call = Call("PATCH", self._path, headers={**headers, **length, **self._digest_header()})
        offset, _ = await self._ask(self._with_body(call, start, end))
        if offset == start < end:
            raise CloudRepositoryError("connection_lost", "No byte was recorded.")
        return offset, self.part.is_last and offset == self.part.end

    async def _ask_offset(self) -> tuple[int, bool]:
        """Stops the append that was cut off, if it still runs."""
        is_refused = False
        while True:
            try:
                if is_refused:
                    # The file could not be stored. An append without content tries again, and gets the reason.
                    return await self._append(self.part.end, self.part.end)
                offset, length = await self._ask(Call("HEAD", self._path, headers=TUS))
                return offset, length == str(offset)
            except CloudRepositoryError as error:
                if is_refused or error.status not in (403, 412):
                    await self._attempts.wait_after(error, 409, 423)
                is_refused = is_refused or error.status in (403, 412)

    async def _ask(self, call: Call) -> tuple[int, str | None]:
        """Returns the offset and the length that the service tells."""
        try:
            response = await self._http.send(call)
        except CloudRepositoryError as error:
            if error.status in (404, 410):
                raise await self._end_of() from error
            raise
        offset = response.headers.get("upload-offset", "")
        if not offset.isdecimal():
            raise unexpected(response, "Upload-Offset")
        return int(offset), response.headers.get("upload-length")

    async def _end_of(self) -> CloudRepositoryError:
        """Why there is no such upload any more."""
        try:
            await self._http.get(UnfinishedUpload, self._path)
        except CloudRepositoryError as error:
            return _superseded() if error.problem.get("outcome") == "finished" else error
        return CloudRepositoryError("connection_lost", "The service has not found an upload that it has.")

    async def _create(self) -> str:
        """If the response is lost, looks for the upload before it creates a second one."""
        name, marker = (b64encode(text.encode()).decode() for text in (self._terms.name, self._marker))
        length = {"upload-length": str(self.part.end)} if self.part.is_last else {"upload-defer-length": "1"}
        metadata = {"upload-metadata": f"filename {name},{MARKER} {marker}"}
        headers = {**TUS, **length, **metadata, **self._digest_header(), **self._terms.headers}
        while True:
            try:
                response = await self._http.send(Call("POST", UPLOADS, self._terms.query, headers))
                if "location" not in response.headers:
                    raise unexpected(response, "Location")
                return str(response.headers["location"]).rsplit("/", 1)[-1]
            except CloudRepositoryError as error:
                await self._attempts.wait_after(error)
                found = await self._find(self._http) if self._attempts.is_uncertain else None
                if found is not None:
                    return found["upload_id"]

    async def _find(self, http: Http[Any]) -> UnfinishedUpload | None:
        async for page in http.pages(UPLOADS, {"limit": 1000}):
            for one in page["uploads"]:
                if one["name"] == self._terms.name and one["metadata"].get(MARKER) == self._marker:
                    return cast(UnfinishedUpload, one)
        return None

    async def _cancel(self, error: BaseException) -> None:
        """Cancels an upload that nothing continues, so that its space is free again."""
        is_kept = self._terms.resume_key is not None and getattr(error, "code", "") != "precondition_failed"
        if is_kept or isinstance(error, GeneratorExit):
            return
        # Not for long: the connection may be lost. The service ends the upload later then.
        hasty = replace(self._http, retry=Retry(tries=1), patience=5)
        with suppress(CloudRepositoryError):
            found = await self._find(hasty)
            if found is not None:
                await hasty.send(Call("DELETE", f"{UPLOADS}/{found['upload_id']}", headers=TUS))

    async def _restart(self, error: CloudRepositoryError) -> None:
        """Raises unless the upload can begin anew: it has expired, or the service has lost its bytes."""
        is_whole = self.part.is_last and self.part.start == 0
        is_lost = error.problem.get("outcome", "expired") in ("expired", "lost")
        if not is_whole or not is_lost or error.code not in ("not_found", "upload_gone"):
            raise error
        await self._attempts.wait_after(error, 404, 410)

    def _with_body(self, call: Call, start: int, end: int) -> Call:
        def body() -> Any:
            return self.part.read(start, end, self._report)

        return replace(call, body=body, length=end - start, patience=STORING_SECONDS)

    def _digest_header(self) -> dict[str, str]:
        digest = b64encode(bytes.fromhex(self._digest or "")).decode()
        return {"repr-digest": f"sha-256=:{digest}:"} if digest else {}

    def _report(self, sent: int) -> None:
        if self._terms.on_progress is not None:
            self._terms.on_progress(sent, self.part.end if self.part.is_last else None)


def _superseded() -> CloudRepositoryError:
    detail = "The upload was stored, and the file has been replaced or deleted since."
    return CloudRepositoryError("upload_superseded", detail)
