"""The repository of one user."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from types import EllipsisType
from typing import Any, Literal, cast

import httpx

from ._changes import follow
from ._content import Content
from ._download import Archive, Download, Target
from ._history import History
from ._http import Call, Http, Query, Retry, Settle, Token, conditions, encode_file_path, segment
from ._lifetime import AsyncClosing, Closing
from ._links import Links
from ._listing import Listing, Resource
from ._modes import Asyncio, Blocking, Iteration, M, Verb
from ._tokens import Tokens
from ._upload import UPLOADS, Terms, upload
from ._uploads import Uploads
from .errors import CloudRepositoryError
from .models import BatchOperation, BatchResult, Capacity, Change, File, FilePage, Session, UploadedFile, Visibility


class Files(Resource[M]):
    @Verb
    async def upload(
        self,
        name: str,
        content: Content,
        *,
        if_match: str | None = None,
        if_none_match: str | None = None,
        visibility: Visibility | None = None,
        expires_in: int | None = None,
        evict: str | None = None,
        media_type: str | None = None,
        metadata: Mapping[str, str] | None = None,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> UploadedFile:
        """Stores content under a name, in place of a file that has it. The file appears when all of it has arrived.

        The content is bytes, a `Path`, a binary file or an iterator of bytes, for `AsyncClient` also an asynchronous
        one. What cannot be read twice is copied to a temporary file first. The service refuses content that does not
        have the digest that the client has computed. More than 8 MiB continue after a lost connection, and a later
        upload of the same content with the same terms continues what an earlier one has left. If the content is stored
        and the response was lost, the upload succeeds, also with a condition.

        - `if_match`: an etag: only if the file has it; `*`: only if there is a file.
        - `if_none_match`: an etag: only if the file has another one; `*`: only if there is no file.
        - `expires_in`: the file expires so many seconds after it is stored.
        - `evict`: if the file does not fit, the oldest files with this prefix make room for it.
        - `media_type`: the default is `application/octet-stream`.
        - `metadata`: strings by name. Without it, an overwrite keeps those of the file.
        - `on_progress(sent, total)`: in bytes.
        """
        query: dict[str, str | int | None] = {"visibility": visibility, "expires_in": expires_in, "evict": evict}
        headers = conditions(if_match, if_none_match)
        return await upload(self._http, content, Terms(name, query, headers, media_type, metadata, on_progress))

    @Verb
    async def download(
        self, name: str, to: Target | None = None, *, user_id: str | None = None, start: int = 0, end: int | None = None
    ) -> Download[M]:
        """Downloads a file of the caller, or of another user, or its bytes from `start` up to, not including, `end`.

        Writes it to a path or a binary file. Without `to`, read the content from what is returned.
        """
        return await Download(self._http, f"{_files_of(user_id)}/{encode_file_path(name)}", start, end).open(to)

    def list(
        self,
        *,
        prefix: str | None = None,
        contains: str | None = None,
        device_id: str | None = None,
        delimiter: str | None = None,
        folder_totals: bool = False,
        order: Literal["name", "-name", "updated_at", "-updated_at", "size", "-size"] | None = None,
        user_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Listing[M, File, FilePage]:
        """By name unless `order` is given; a leading `-` sorts in descending order. `limit` is the size of a page.

        The first page of the caller's files has the `changes_cursor` for `changes.follow`.

        - `prefix`: only names that begin with it, such as `photos/`.
        - `contains`: only names that contain it, in any case.
        - `device_id`: only files that this device of the caller has stored.
        - `delimiter`: with `/`, names that go on with a folder after the prefix are in the `prefixes` of the pages, one
          entry for each folder. Only with an order by name.
        - `folder_totals`: counts what is below each of them, as `folders` of the pages.
        """
        query: dict[str, Query] = {"prefix": prefix, "contains": contains, "device_id": device_id}
        query |= {"delimiter": delimiter, "order": order, "limit": limit, "cursor": cursor}
        query |= {"folder_totals": "true"} if folder_totals else {}
        return Listing(self._http, _files_of(user_id), "files", query)

    @Verb
    async def get(self, name: str, *, user_id: str | None = None) -> File:
        """Raises `not_found` if there is no such file, or the caller may not see it."""
        file = await self._http.find_file(name, _files_of(user_id))
        if file is None:
            raise CloudRepositoryError("not_found", "There is no such file.")
        return file

    @Verb
    async def rename(self, name: str, new_name: str, *, overwrite: bool = False, if_match: str | None = None) -> File:
        """Raises `file_exists` if the new name is taken, unless `overwrite` is set.

        A lost response is resolved if `if_match` is an etag and the file still has it. Otherwise it can end with
        `outcome_unknown`.
        """

        async def settle(error: CloudRepositoryError) -> File | None:
            if error.code != "not_found":
                return None
            file = await self._http.find_file(new_name)
            if file is not None and file["etag"] == if_match:  # A rename keeps the etag.
                return file
            raise CloudRepositoryError("outcome_unknown", "The response to the rename was lost.") from error

        return await self._patch(name, {"name": new_name, "overwrite": overwrite}, if_match, settle)

    @Verb
    async def update(
        self,
        name: str,
        *,
        visibility: Visibility | None = None,
        keep: bool | None = None,
        expires_at: datetime | EllipsisType | None = ...,
        media_type: str | None = None,
        metadata: Mapping[str, str | None] | EllipsisType | None = ...,
        if_match: str | None = None,
    ) -> File:
        """Changes who may read the file, whether evictions spare it, when it expires (`None`: never), and its type.

        `metadata` are merged with those of the file: `None` removes a member, or all of them.
        """
        given = {"visibility": visibility, "keep": keep, "media_type": media_type}
        json: dict[str, Any] = {member: value for member, value in given.items() if value is not None}
        if not isinstance(expires_at, EllipsisType):
            json["expires_at"] = expires_at and expires_at.astimezone(timezone.utc).isoformat()
        if not isinstance(metadata, EllipsisType):
            json["metadata"] = metadata
        return await self._patch(name, json, if_match)

    @Verb
    async def delete(self, name: str, *, if_match: str | None = None) -> None:
        """Deletes a file. The history keeps it for a while."""
        await self._http.call(
            Call("DELETE", f"{_files_of(None)}/{encode_file_path(name)}", headers=conditions(if_match))
        )

    @Verb
    async def archive(
        self, to: Target | None = None, *, prefix: str | None = None, names: Sequence[str] | None = None
    ) -> Archive[M]:
        """Downloads all files, or those of a prefix or of 1 to 200 names, as a ZIP archive, in their current versions.

        With a prefix, entry names are relative to the folder that contains it. Raises `not_found` if a name has no
        file, and `archive_too_large` for more than 10,000 files. `to` is as for `download`.
        """
        return await Archive(self._http, "users/me/archive", prefix, names).open(to)

    @Verb
    async def batch(self, operations: Sequence[BatchOperation]) -> BatchResult:
        """Does 1 to 1,000 operations in order, and all of them or none.

        Raises the refusal of one operation, whose index is `problem["operation"]`.
        """
        return cast(BatchResult, await self._http.call(Call("POST", "users/me/batch", json={"operations": operations})))

    async def _patch(self, name: str, json: dict[str, Any], if_match: str | None, settle: Settle | None = None) -> File:
        call = Call("PATCH", f"{_files_of(None)}/{encode_file_path(name)}", headers=conditions(if_match), json=json)
        return cast(File, await self._http.call(call, settle))


class Changes(Resource[M]):
    def follow(self, cursor: str | None = None) -> Iteration[M, Change]:
        """Every committed change after the cursor, once and in order, for as long as it is iterated.

        `cursor` is the `changes_cursor` of a listing, or that of the last change that was handled; without it, begins
        at the present. Reconnects after lost connections, without end. Ignore types that you do not know. Raises
        `CursorExpired` if changes after the cursor are no longer known: list the files again.
        """
        return Iteration(self._io, lambda: follow(self._http, cursor))


class Repository(Resource[M]):
    def __init__(self, http: Http[M]) -> None:
        super().__init__(http)
        self.files = Files(http)
        self.uploads = Uploads(http, UPLOADS)
        self.history = History(http, "users/me/history")
        self.changes = Changes(http)
        self.links = Links(http, "users/me/links")
        self.tokens = Tokens(http, "users/me/access-tokens")

    @Verb
    async def capacity(self) -> Capacity:
        """A consistent snapshot of what the user stores and may store."""
        return cast(Capacity, await self._http.call(Call("GET", "users/me/capacity")))

    @Verb
    async def session(self) -> Session:
        """Whose the access token is, and what it permits."""
        return cast(Session, await self._http.call(Call("GET", "session")))


class Client(Repository[Blocking], Closing):
    """The repository of one user. Threads can share it.

    `url` is the address of the service with its `BASE_PATH`. `token` is an access token, or a function that returns the
    current one and is called before each request; without one, only public files can be read. `http` replaces the
    client of httpx, for example to set a proxy or certificates.
    """

    def __init__(
        self,
        url: str,
        token: str | Callable[[], str] | None = None,
        *,
        retry: Retry = Retry(),
        http: httpx.Client | None = None,
    ) -> None:
        super().__init__(Http(Blocking(http or httpx.Client()), url.rstrip("/"), token, retry))


class AsyncClient(Repository[Asyncio], AsyncClosing):
    """As `Client`, for asyncio. The function for `token` can be a coroutine function."""

    def __init__(
        self, url: str, token: Token = None, *, retry: Retry = Retry(), http: httpx.AsyncClient | None = None
    ) -> None:
        super().__init__(Http(Asyncio(http or httpx.AsyncClient()), url.rstrip("/"), token, retry))


def _files_of(user_id: str | None) -> str:
    return f"users/{'me' if user_id is None else segment(user_id)}/repo"
