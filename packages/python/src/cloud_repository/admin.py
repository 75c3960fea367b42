"""The admin API, for back ends and operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, cast

import httpx

from ._download import Archive, Target
from ._history import UserHistory
from ._http import Call, Http, Retry, Token, encode_file_path, segment
from ._lifetime import AsyncClosing, Closing
from ._links import UserLinks
from ._listing import Listing, Resource
from ._modes import Asyncio, Blocking, M, Verb
from ._tokens import Tokens
from .models import (
    AdminSession,
    Device,
    DevicePage,
    DeviceTerms,
    File,
    FilePage,
    Grant,
    GrantPage,
    GrantTerms,
    IssuedOperator,
    ListedUser,
    Operator,
    OperatorAction,
    OperatorActionPage,
    OperatorPage,
    OperatorRole,
    Overview,
    ParkedWebhook,
    ParkedWebhookPage,
    Status,
    User,
    UserDetails,
    UserPage,
    UserUpload,
    UserUploadPage,
)

USERS = "admin/users"


class Users(Resource[M]):
    """The accounts. All changes but `create` can be repeated, and are after a lost response."""

    @Verb
    async def create(self) -> User:
        """Creates a user with a generated id."""
        return cast(User, await self._http.call(Call("POST", self._path, json={})))

    @Verb
    async def put(self, user_id: str) -> User:
        """Creates the user unless it exists. Raises `user_exists` while a deleted user of that id is being purged."""
        return cast(User, await self._http.call(Call("PUT", self._below(user_id), json={})))

    @Verb
    async def get(self, user_id: str) -> UserDetails:
        return cast(UserDetails, await self._http.call(Call("GET", self._below(user_id))))

    def list(
        self,
        *,
        prefix: str | None = None,
        contains: str | None = None,
        order: Literal["user_id", "created_at", "-created_at"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Listing[M, ListedUser, UserPage]:
        """By id unless `order` is given, `-` for the newest first. With `prefix` or `contains`, only by id.

        - `contains`: a part of the id, or of the id or label of a device.
        """
        return self._list("users", prefix=prefix, contains=contains, order=order, limit=limit, cursor=cursor)

    @Verb
    async def set_status(self, user_id: str, status: Status) -> User:
        """A suspended user cannot do anything, and its public files are not found."""
        return cast(User, await self._http.call(Call("PATCH", self._below(user_id), json={"status": status})))

    @Verb
    async def delete(self, user_id: str) -> None:
        """Deletes the user and all its files."""
        await self._delete(user_id)


class Devices(Resource[M]):
    def list(self, *, limit: int | None = None, cursor: str | None = None) -> Listing[M, Device, DevicePage]:
        return self._list("devices", limit=limit, cursor=cursor)

    @Verb
    async def put(self, device_id: str, terms: DeviceTerms | None = None) -> Device:
        """Adds the device, or changes all its terms."""
        return cast(Device, await self._http.call(Call("PUT", self._below(device_id), json=terms or {})))

    @Verb
    async def delete(self, device_id: str) -> None:
        await self._delete(device_id)


class Grants(Resource[M]):
    """Bytes for the capacity. Source and reference say what a grant is for, and together are unique for a user."""

    def list(self, *, limit: int | None = None, cursor: str | None = None) -> Listing[M, Grant, GrantPage]:
        return self._list("grants", limit=limit, cursor=cursor)

    @Verb
    async def put(self, source: str, reference: str, terms: GrantTerms) -> Grant:
        """Grants the bytes once for each source and reference, however often it is called."""
        return cast(Grant, await self._http.call(Call("PUT", self._grant(source, reference), json=terms)))

    @Verb
    async def revoke(self, source: str, reference: str) -> None:
        await self._http.call(Call("DELETE", self._grant(source, reference)))

    def _grant(self, source: str, reference: str) -> str:
        return f"{self._below(source)}/{segment(reference)}"


class UserFiles(Resource[M]):
    """The files of the user, also of a suspended one."""

    def list(
        self,
        *,
        prefix: str | None = None,
        contains: str | None = None,
        device_id: str | None = None,
        delimiter: str | None = None,
        order: Literal["name", "-name", "updated_at", "-updated_at", "size", "-size"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Listing[M, File, FilePage]:
        """As `files.list` of `Client`."""
        query = {"prefix": prefix, "contains": contains, "device_id": device_id, "delimiter": delimiter, "order": order}
        return self._list("files", **query, limit=limit, cursor=cursor)

    @Verb
    async def delete(self, name: str) -> None:
        """Deletes a file as the user does: the history keeps it for a while."""
        await self._http.call(Call("DELETE", f"{self._path}/{encode_file_path(name)}"))


class UserUploads(Resource[M]):
    def list(self, *, limit: int | None = None, cursor: str | None = None) -> Listing[M, UserUpload, UserUploadPage]:
        """The oldest first."""
        return self._list("uploads", limit=limit, cursor=cursor)

    @Verb
    async def cancel(self, upload_id: str) -> None:
        """Ends an upload and releases its space."""
        await self._delete(upload_id)


class UserAdmin(Resource[M]):
    """What belongs to one user."""

    def __init__(self, http: Http[M], path: str) -> None:
        super().__init__(http, path)
        self.tokens = Tokens(http, f"{path}/access-tokens")
        self.devices = Devices(http, f"{path}/devices")
        self.grants = Grants(http, f"{path}/grants")
        self.history = UserHistory(http, f"{path}/history")
        self.files = UserFiles(http, f"{path}/files")
        self.links = UserLinks(http, f"{path}/links")
        self.uploads = UserUploads(http, f"{path}/uploads")

    @Verb
    async def archive(
        self, to: Target | None = None, *, prefix: str | None = None, names: Sequence[str] | None = None
    ) -> Archive[M]:
        """Downloads the user's files, as `files.archive` of `Client` does."""
        return await Archive(self._http, f"{self._path}/archive", prefix, names).open(to)


class Operators(Resource[M]):
    """Who may use the admin API, each with a token of their own."""

    @Verb
    async def add(self, name: str, role: OperatorRole) -> IssuedOperator:
        """The token is in this response only."""
        return cast(IssuedOperator, await self._http.call(Call("POST", self._path, json={"name": name, "role": role})))

    def list(self, *, limit: int | None = None, cursor: str | None = None) -> Listing[M, Operator, OperatorPage]:
        """By name, without tokens."""
        return self._list("operators", limit=limit, cursor=cursor)

    @Verb
    async def get(self, name: str) -> Operator:
        return cast(Operator, await self._http.call(Call("GET", self._below(name))))

    @Verb
    async def remove(self, name: str) -> None:
        """Ends the token and the sessions of the operator."""
        await self._delete(name)


class ParkedWebhooks(Resource[M]):
    """Webhooks whose receiver did not accept them."""

    def list(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> Listing[M, ParkedWebhook, ParkedWebhookPage]:
        return self._list("webhooks", limit=limit, cursor=cursor)

    @Verb
    async def retry(self, webhook_id: str) -> None:
        """Sends it again. Raises `webhook_failed` if the receiver does not accept it."""
        await self._http.call(Call("POST", f"{self._below(webhook_id)}/retry"))

    @Verb
    async def discard(self, webhook_id: str) -> None:
        await self._delete(webhook_id)


class AuditTrail(Resource[M]):
    """What operators did."""

    def list(
        self,
        *,
        user_id: str | None = None,
        operator: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Listing[M, OperatorAction, OperatorActionPage]:
        """The newest first; only what concerns the user, or what the operator did. Both may be gone."""
        return self._list("actions", user_id=user_id, operator=operator, limit=limit, cursor=cursor)


class Administration(Resource[M]):
    def __init__(self, http: Http[M]) -> None:
        super().__init__(http)
        self.users = Users(http, USERS)
        self.operators = Operators(http, "admin/operators")
        self.webhooks = ParkedWebhooks(http, "admin/webhooks/parked")
        self.audit = AuditTrail(http, "admin/audit")

    def user(self, user_id: str) -> UserAdmin[M]:
        return UserAdmin(self._http, f"{USERS}/{segment(user_id)}")

    @Verb
    async def overview(self) -> Overview:
        """The figures of the whole service, up to a minute old."""
        return cast(Overview, await self._http.call(Call("GET", "admin/overview")))

    @Verb
    async def session(self) -> AdminSession:
        """Whose the token is, and what it permits."""
        return cast(AdminSession, await self._http.call(Call("GET", "session")))


class AdminClient(Administration[Blocking], Closing):
    """The admin API. Threads can share it.

    `url` is the address of the admin listener, and `token` that of an operator, or `ADMIN_TOKEN`. The other arguments
    are those of `Client`.
    """

    def __init__(
        self, url: str, token: str | Callable[[], str], *, retry: Retry = Retry(), http: httpx.Client | None = None
    ) -> None:
        super().__init__(Http(Blocking(http or httpx.Client()), url.rstrip("/"), token, retry))


class AsyncAdminClient(Administration[Asyncio], AsyncClosing):
    """As `AdminClient`, for asyncio."""

    def __init__(
        self, url: str, token: Token, *, retry: Retry = Retry(), http: httpx.AsyncClient | None = None
    ) -> None:
        super().__init__(Http(Asyncio(http or httpx.AsyncClient()), url.rstrip("/"), token, retry))
