"""The repository of one user."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from datetime import datetime, timezone
from types import EllipsisType
from typing import Any, Literal, TypeVar, cast

import httpx

from ._changes import follow
from ._content import Content
from ._download import Download, Target
from ._http import Call, Http, Retry, Token, conditions, segment
from ._modes import Asyncio, Blocking, Bound, Iteration, M, Verb
from ._upload import TUS, UPLOADS, Terms, upload
from .errors import CloudRepositoryError
from .models import AccessToken, Capacity, Change, CreatedLink, File, IssuedAccessToken, Link, PastVersion, Scope
from .models import Session, UnfinishedUpload, UploadedFile, Visibility

T = TypeVar("T")


class Listing(Iteration[M, T]):
    """The entries of a listing, read page by page as they are iterated."""

    def __init__(self, http: Http[M], path: str, items: str, **query: str | int | None) -> None:
        async def entries() -> AsyncGenerator[T, None]:
            async for page in http.pages(path, query):
                for item in page[items]:
                    yield item

        super().__init__(http.io, entries)
        self._pages = lambda: http.pages(path, query)

    def pages(self) -> Iteration[M, dict[str, Any]]:
        """The pages as the service returns them. The first one of the caller's files has the `changes_cursor`."""
        return Iteration(self._io, self._pages)


class Resource(Bound[M]):
    path = ""

    def __init__(self, http: Http[M]) -> None:
        self._io = http.io
        self._http = http

    async def _delete(self, name: str, headers: dict[str, Any] | None = None) -> None:
        await self._http.call(Call("DELETE", f"{self.path}/{segment(name)}", headers=headers))


class Files(Resource[M]):
    path = "users/me/repo"

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
        digest: str | bool | None = None,
        resume_key: str | None = None,
        on_progress: Callable[[int, int | None], None] | None = None,
    ) -> UploadedFile:
        """Stores content under a name, in place of a file that has it. The file appears when all of it has arrived.

        The content is bytes, a `Path`, a binary file or an iterator of bytes, for `AsyncClient` also an asynchronous
        one. More than 8 MiB continue after a lost connection. If the content is a `Path`, or `resume_key` names it, a
        later upload of the same content and terms continues what an earlier process has left. Any other upload that
        fails is cancelled. If the content is stored and the response was lost, the upload succeeds, also with a
        condition.

        - `if_match`: an etag: only if the file has it; `*`: only if there is a file.
        - `if_none_match`: an etag: only if the file has another one; `*`: only if there is no file.
        - `expires_in`: the file expires so many seconds after it is stored.
        - `evict`: if the file does not fit, the oldest files with this prefix make room for it.
        - `digest`: SHA-256 of the content in hexadecimal; `True` computes it first. The service refuses other content
          with `digest_mismatch`. Without it, content of more than 8 MiB is compared only after it is stored.
        - `on_progress(sent, total)`: `total` is `None` for an iterator whose end is not known yet.
        """
        query: dict[str, str | int | None] = {"visibility": visibility, "expires_in": expires_in, "evict": evict}
        headers = conditions(if_match, if_none_match)
        return await upload(self._http, content, Terms(name, query, headers, digest, resume_key, on_progress))

    @Verb
    async def download(
        self, name: str, to: Target | None = None, *, user_id: str | None = None, start: int = 0, end: int | None = None
    ) -> Download[M]:
        """Downloads a file of the caller, or of another user, or its bytes from `start` up to, not including, `end`.

        Writes it to a path or a binary file. Without `to`, read the content from what is returned.
        """
        return await Download(self._http, f"{_files_of(user_id)}/{segment(name)}", start, end).open(to)

    def list(
        self,
        *,
        prefix: str | None = None,
        order: Literal["name", "-name", "updated_at", "-updated_at", "size", "-size"] | None = None,
        user_id: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> Listing[M, File]:
        """By name unless `order` is given; a leading `-` sorts in descending order. `limit` is the size of a page."""
        query = {"prefix": prefix, "order": order, "cursor": cursor}
        return Listing(self._http, _files_of(user_id), "files", **query, limit=limit)

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

        json = {"name": new_name, "overwrite": overwrite}
        call = Call("PATCH", f"{self.path}/{segment(name)}", headers=conditions(if_match), json=json)
        return cast(File, await self._http.call(call, settle))

    @Verb
    async def update(
        self,
        name: str,
        *,
        visibility: Visibility | None = None,
        keep: bool | None = None,
        expires_at: datetime | None | EllipsisType = ...,
        if_match: str | None = None,
    ) -> File:
        """Changes who may read the file, whether evictions spare it, and when it expires (`None`: never)."""
        json = _given(visibility=visibility, keep=keep)
        if not isinstance(expires_at, EllipsisType):
            json["expires_at"] = expires_at and expires_at.astimezone(timezone.utc).isoformat()
        call = Call("PATCH", f"{self.path}/{segment(name)}", headers=conditions(if_match), json=json)
        return cast(File, await self._http.call(call))

    @Verb
    async def delete(self, name: str, *, if_match: str | None = None) -> None:
        """Deletes a file. The history keeps it for a while."""
        await self._delete(name, conditions(if_match))


class Uploads(Resource[M]):
    """Unfinished resumable uploads."""

    path = UPLOADS

    def list(self, *, cursor: str | None = None, limit: int | None = None) -> Listing[M, UnfinishedUpload]:
        return Listing(self._http, self.path, "uploads", cursor=cursor, limit=limit)

    @Verb
    async def cancel(self, upload_id: str) -> None:
        """Ends an upload and releases its space. Raises `upload_gone` or `not_found` if it has ended."""
        await self._delete(upload_id, TUS)


class History(Resource[M]):
    """What was replaced and deleted."""

    path = "users/me/history"

    def list(
        self, *, name: str | None = None, prefix: str | None = None, cursor: str | None = None, limit: int | None = None
    ) -> Listing[M, PastVersion]:
        """The newest end first."""
        return Listing(self._http, self.path, "versions", name=name, prefix=prefix, cursor=cursor, limit=limit)

    @Verb
    async def download(
        self, version: str, to: Target | None = None, *, start: int = 0, end: int | None = None
    ) -> Download[M]:
        """As `files.download`."""
        return await Download(self._http, f"{self.path}/{segment(version)}", start, end).open(to)

    @Verb
    async def restore(
        self, version: str, *, name: str | None = None, overwrite: bool = False, if_match: str | None = None
    ) -> UploadedFile:
        """Makes the version the current file. Raises `version_gone` or `not_found` if that is no longer possible.

        A lost response is resolved if `name` is given. Otherwise it can end with `outcome_unknown`.
        """

        async def settle(error: CloudRepositoryError) -> File | None:
            if error.code not in ("not_found", "precondition_failed"):
                return None
            file = None if name is None else await self._http.find_file(name)
            if file is not None and file["version"] == version:
                return file
            raise CloudRepositoryError("outcome_unknown", "The response to the restore was lost.") from error

        path, json = f"{self.path}/{segment(version)}/restore", _given(name=name, overwrite=overwrite)
        call = Call("POST", path, headers=conditions(if_match), json=json)
        return cast(UploadedFile, await self._http.call(call, settle))

    @Verb
    async def purge(self, version: str) -> None:
        """Deletes one version for good."""
        await self._delete(version)

    @Verb
    async def purge_all(self) -> None:
        """Deletes all versions for good."""
        await self._http.call(Call("DELETE", self.path))


class Changes(Resource[M]):
    def follow(self, cursor: str | None = None) -> Iteration[M, Change]:
        """Every committed change after the cursor, once and in order, for as long as it is iterated.

        `cursor` is the `changes_cursor` of a listing, or that of the last change that was handled; without it, begins
        at the present. Reconnects after lost connections, without end. Ignore types that you do not know. Raises
        `CursorExpired` if changes after the cursor are no longer known: list the files again.
        """
        return Iteration(self._io, lambda: follow(self._http, cursor))


class Links(Resource[M]):
    """Links for people without an account."""

    path = "users/me/links"

    @Verb
    async def create(
        self,
        kind: Literal["download", "drop"],
        *,
        name: str | None = None,
        prefix: str | None = None,
        expires_in: int | None = None,
        max_uses: int | None = None,
        password: str | None = None,
        label: str | None = None,
    ) -> CreatedLink:
        """The secret and the address are in this response only: raises `connection_lost` if it is lost."""
        json = _given(kind=kind, name=name, prefix=prefix, expires_in=expires_in, max_uses=max_uses, password=password)
        call = Call("POST", self.path, json={**json, **_given(label=label)}, is_creation=True)
        return cast(CreatedLink, await self._http.call(call))

    def list(self, *, cursor: str | None = None, limit: int | None = None) -> Listing[M, Link]:
        """The oldest first, without secrets."""
        return Listing(self._http, self.path, "links", cursor=cursor, limit=limit)

    @Verb
    async def revoke(self, link_id: str) -> None:
        """Ends a link for everyone. Downloads in progress go on."""
        await self._delete(link_id)


class Tokens(Resource[M]):
    """The caller's access tokens."""

    path = "users/me/access-tokens"

    @Verb
    async def create(
        self, *, label: str | None = None, expires_in: int | None = None, scope: Scope | None = None
    ) -> IssuedAccessToken:
        """A token that permits no more than the caller's. Its secret is in this response only."""
        json = _given(label=label, expires_in=expires_in, scope=scope)
        call = Call("POST", self.path, json=json, is_creation=True)
        return cast(IssuedAccessToken, await self._http.call(call))

    def list(self, *, cursor: str | None = None, limit: int | None = None) -> Listing[M, AccessToken]:
        """The oldest first, without secrets."""
        return Listing(self._http, self.path, "access_tokens", cursor=cursor, limit=limit)

    @Verb
    async def revoke(self, token_id: str) -> None:
        """Also revokes the tokens that it has made."""
        await self._delete(token_id)


class Repository(Resource[M]):
    def __init__(self, http: Http[M]) -> None:
        super().__init__(http)
        self.files = Files(http)
        self.uploads = Uploads(http)
        self.history = History(http)
        self.changes = Changes(http)
        self.links = Links(http)
        self.tokens = Tokens(http)

    @Verb
    async def capacity(self) -> Capacity:
        """A consistent snapshot of what the user stores and may store."""
        return await self._http.get(Capacity, "users/me/capacity")

    @Verb
    async def session(self) -> Session:
        """Whose token this is, and what it permits."""
        return await self._http.get(Session, "session")


class Client(Repository[Blocking]):
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

    def close(self) -> None:
        self._io.client.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncClient(Repository[Asyncio]):
    """As `Client`, for asyncio. The function for `token` can be a coroutine function."""

    def __init__(
        self, url: str, token: Token = None, *, retry: Retry = Retry(), http: httpx.AsyncClient | None = None
    ) -> None:
        super().__init__(Http(Asyncio(http or httpx.AsyncClient()), url.rstrip("/"), token, retry))

    async def aclose(self) -> None:
        await self._io.client.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def _files_of(user_id: str | None) -> str:
    return f"users/{'me' if user_id is None else segment(user_id)}/repo"


def _given(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}
