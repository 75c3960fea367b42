"""The JSON of the service, as docs/api.md describes it. Sizes are in bytes, and times in RFC 3339."""

# fmt: off
from typing import Literal, TypedDict

Visibility = Literal["private", "users", "public"]

File = TypedDict("File", {
    "name": str, "user_id": str, "size": int, "sha256": str, "etag": str, "version": str, "visibility": Visibility,
    "created_at": str, "updated_at": str, "expires_at": str | None, "keep": bool,
})
Room = TypedDict("Room", {"capacity": int, "used": int, "reserved": int, "available": int})
Evicted = TypedDict("Evicted", {"files": int, "bytes": int})


class UploadedFile(File, total=False):
    """Only an upload in one request, and a restore, also tell these."""

    replaced: bool
    capacity: Room
    evicted: Evicted


PastVersion = TypedDict("PastVersion", {
    "version": str, "name": str, "size": int, "sha256": str, "visibility": Visibility, "created_at": str,
    "ended_at": str, "ended_as": Literal["replaced", "deleted"], "expires_at": str,
})
UnfinishedUpload = TypedDict("UnfinishedUpload", {
    "upload_id": str, "name": str, "state": Literal["open", "receiving", "complete", "finished"], "offset": int,
    "length": int | None, "visibility": Visibility | None, "metadata": dict[str, str], "refusal": str | None,
    "created_at": str, "updated_at": str, "expires_at": str, "file": File | None,
})
_Change = TypedDict("_Change", {"cursor": str, "sequence": int, "type": str, "at": str})


class Change(_Change, total=False):
    """A committed change, and the cursor after it. Its `type` tells which of these members it has."""

    name: str
    previous_name: str
    version: str
    size: int
    sha256: str
    visibility: Visibility
    capacity: int
    used: int


Link = TypedDict("Link", {
    "link_id": str, "kind": Literal["download", "drop"], "name": str | None, "prefix": str | None, "label": str,
    "has_password": bool, "max_uses": int | None, "uses_left": int | None, "created_at": str, "expires_at": str | None,
})


class CreatedLink(Link):
    url: str
    secret: str


#: What a token permits. What is left out is as in the token that makes it.
Scope = TypedDict("Scope", {
    "actions": list[Literal["read", "create", "replace", "delete", "history", "share"]], "prefix": str | None,
    "device_id": str | None, "when_full": Literal["refuse", "evict_oldest"],
}, total=False)
#: Whose token the client has, and what it permits: everything if `scope` is `None`.
Session = TypedDict("Session", {"user_id": str, "scope": Scope | None, "expires_at": str | None})
_Token = TypedDict("_Token", {
    "token_id": str, "label": str, "scope": Scope | None, "created_at": str, "expires_at": str | None,
})


class AccessToken(_Token):
    revoked_at: str | None
    last_used_at: str | None


class IssuedAccessToken(_Token):
    access_token: str


UnfinishedUploads = TypedDict("UnfinishedUploads", {"count": int, "bytes": int})
HistoryUsage = TypedDict("HistoryUsage", {"used": int, "allowance": int, "count": int, "oldest_at": str | None})
_Grant = TypedDict("_Grant", {
    "source": str, "reference": str, "bytes": int, "starts_at": str | None, "ends_at": str | None,
})


class Grant(_Grant, total=False):
    model: str


class Capacity(Room):
    user_id: str
    file_count: int
    max_files: int
    unfinished_uploads: UnfinishedUploads
    history: HistoryUsage
    state: Literal["normal", "nearing", "critical", "exceeded"]
    grants: list[Grant]
