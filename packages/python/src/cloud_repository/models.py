"""The JSON of the service, as docs/api.md describes it. Sizes are in bytes, and times in RFC 3339."""

# fmt: off
from typing import Any, Literal, TypedDict

Visibility = Literal["private", "users", "public"]

File = TypedDict("File", {
    "name": str, "user_id": str, "size": int, "sha256": str, "etag": str, "version": str, "visibility": Visibility,
    "created_at": str, "updated_at": str, "expires_at": str | None, "media_type": str, "metadata": dict[str, str],
    "device_id": str | None, "keep": bool,
})
Room = TypedDict("Room", {"capacity": int, "used": int, "reserved": int, "available": int})
Evicted = TypedDict("Evicted", {"files": int, "bytes": int})
_FilePage = TypedDict("_FilePage", {"files": list[File], "next_cursor": str | None})
Folder = TypedDict("Folder", {"prefix": str, "file_count": int | None, "size": int | None})


class FilePage(_FilePage, total=False):
    """With a `delimiter`, it has `prefixes`, with `folder_totals` also what is below each of them.

    Only the first page of the caller's own files has the `changes_cursor`.
    """

    prefixes: list[str]
    folders: list[Folder]
    changes_cursor: str


class UploadedFile(File, total=False):
    """Only an upload in one request also tells these.

    With a token that may not read the file, only `name` and `user_id` are sure to be there.
    """

    replaced: bool
    capacity: Room
    evicted: Evicted


_Change = TypedDict("_Change", {"cursor": str, "sequence": int, "type": str, "at": str})
_Subject = TypedDict("_Subject", {
    "name": str, "previous_name": str, "version": str, "size": int, "sha256": str, "visibility": Visibility,
    "media_type": str, "device_id": str | None, "capacity": int, "used": int,
}, total=False)


class Change(_Change, _Subject):
    """A committed change, and the cursor after it. Its `type` tells which of the optional members it has."""


Capacity = TypedDict("Capacity", {
    "user_id": str, "capacity": int, "used": int, "reserved": int, "available": int, "file_count": int,
    "max_files": int, "unfinished_uploads": dict[str, int], "history": dict[str, Any],
    "state": Literal["normal", "nearing", "critical", "exceeded"], "grants": list[dict[str, Any]],
    "devices": list[dict[str, Any]],
})

Action = Literal["read", "create", "replace", "delete", "history", "share"]
WhenFull = Literal["refuse", "evict_oldest"]
Scope = TypedDict("Scope", {
    "actions": list[Action], "prefix": str, "device_id": str | None, "when_full": WhenFull,
})
#: What is not given has the widest meaning.
ScopeTerms = TypedDict("ScopeTerms", {
    "actions": list[Action], "prefix": str, "device_id": str, "when_full": WhenFull,
}, total=False)
#: `expires_in` is in seconds.
AccessTokenTerms = TypedDict("AccessTokenTerms", {"label": str, "expires_in": int, "scope": ScopeTerms}, total=False)
_Token = TypedDict("_Token", {
    "token_id": str, "label": str, "scope": Scope | None, "created_at": str, "expires_at": str | None,
})


class AccessToken(_Token):
    """`parent_id` is the token that made it."""

    parent_id: str | None
    revoked_at: str | None
    last_used_at: str | None


class IssuedAccessToken(_Token):
    access_token: str


AccessTokenPage = TypedDict("AccessTokenPage", {"access_tokens": list[AccessToken], "next_cursor": str | None})
_Session = TypedDict("_Session", {"user_id": str, "scope": Scope | None, "expires_at": str | None})


class Session(_Session, total=False):
    """A `scope` of `None` permits everything."""

    max_token_lifetime: int


_LinkKind = TypedDict("_LinkKind", {"kind": Literal["download", "drop"]})


class LinkTerms(_LinkKind, total=False):
    """A link to the file `name`, or to the files with a `prefix`, or for drops. `expires_in` is in seconds."""

    name: str
    prefix: str
    expires_in: int
    max_uses: int
    max_bytes: int | None
    max_files: int | None
    password: str
    label: str


LinkChanges = TypedDict("LinkChanges", {
    "label": str, "expires_at": str | None, "max_uses": int | None, "max_bytes": int | None,
    "max_files": int | None, "password": str | None,
}, total=False)
Link = TypedDict("Link", {
    "link_id": str, "kind": Literal["download", "drop"], "name": str | None, "prefix": str | None, "label": str,
    "has_password": bool, "max_uses": int | None, "uses_left": int | None, "max_bytes": int | None,
    "max_files": int | None, "bytes_left": int | None, "files_left": int | None, "created_at": str,
    "expires_at": str | None,
})


class CreatedLink(Link):
    url: str
    secret: str


LinkPage = TypedDict("LinkPage", {"links": list[Link], "next_cursor": str | None})
PastVersion = TypedDict("PastVersion", {
    "version": str, "name": str, "size": int, "sha256": str, "visibility": Visibility, "device_id": str | None,
    "media_type": str, "metadata": dict[str, str], "created_at": str, "ended_at": str,
    "ended_as": Literal["replaced", "deleted"], "expires_at": str,
})
HistoryPage = TypedDict("HistoryPage", {"versions": list[PastVersion], "next_cursor": str | None})
_Upload = TypedDict("_Upload", {
    "upload_id": str, "name": str, "state": Literal["open", "receiving", "complete", "finished"], "offset": int,
    "length": int | None, "refusal": str | None, "created_at": str, "updated_at": str, "expires_at": str,
})


class UnfinishedUpload(_Upload):
    """With a token that may not read the file, only its `name` and `user_id` are sure to be there."""

    visibility: Visibility | None
    metadata: dict[str, str]
    file: File | None


UploadPage = TypedDict("UploadPage", {"uploads": list[UnfinishedUpload], "next_cursor": str | None})
_OperationResult = TypedDict("_OperationResult", {"op": str, "name": str | None, "file": File | None})


class OperationResult(_OperationResult, total=False):
    """An operation on a prefix tells how many files it `matched`."""

    prefix: str
    new_prefix: str
    matched: int


_BatchResult = TypedDict("_BatchResult", {"results": list[OperationResult]})


class BatchResult(_BatchResult, total=False):
    """A token without `read` is not told the capacity."""

    capacity: Room


_Operation = TypedDict("_Operation", {"op": Literal["delete", "rename", "update", "restore"]})


class BatchOperation(_Operation, total=False):
    """One change, in the form of the API: `name`, or `prefix` for all files below it, and what the `op` needs."""
    name: str
    prefix: str
    version: str
    new_name: str
    new_prefix: str
    overwrite: bool
    visibility: Visibility
    keep: bool
    expires_at: str | None
    media_type: str
    metadata: dict[str, str | None] | None
    if_match: str
    ignore_missing: bool

Status = Literal["active", "suspended", "deleted"]
#: How much of the account the files of a device may take; a number is in bytes.
Share = Literal["all", "own"] | int
User = TypedDict("User", {"user_id": str, "status": Status, "created_at": str, "capacity": dict[str, Any]})


class ListedUser(User, total=False):
    """With `contains`, `matched_device` has the device that contains the text, if the user id does not."""

    matched_device: dict[str, str | None]


UserPage = TypedDict("UserPage", {"users": list[ListedUser], "next_cursor": str | None})
Device = TypedDict("Device", {
    "device_id": str, "label": str | None, "model": str | None, "bytes": int, "share": Share, "created_at": str,
})
DevicePage = TypedDict("DevicePage", {"devices": list[Device], "next_cursor": str | None})
#: `bytes` is what the device adds to the capacity.
DeviceTerms = TypedDict("DeviceTerms", {"model": str, "bytes": int, "label": str | None, "share": Share}, total=False)
DeviceUsage = TypedDict("DeviceUsage", {
    "device_id": str, "label": str | None, "model": str | None, "bytes": int, "share": Share, "used": int,
    "reserved": int, "file_count": int, "newest_at": str | None,
})


class UserDetails(User):
    devices: list[DeviceUsage]


_Grant = TypedDict("_Grant", {
    "source": str, "reference": str, "bytes": int, "starts_at": str | None, "ends_at": str | None, "created_at": str,
})


class Grant(_Grant, total=False):
    """That of a device has its `model`."""

    model: str


GrantPage = TypedDict("GrantPage", {"grants": list[Grant], "next_cursor": str | None})
_GrantBytes = TypedDict("_GrantBytes", {"bytes": int})


class GrantTerms(_GrantBytes, total=False):
    starts_at: str
    ends_at: str


class UserUpload(_Upload):
    """An unfinished upload, as operators see it."""


UserUploadPage = TypedDict("UserUploadPage", {"uploads": list[UserUpload], "next_cursor": str | None})
RestoredFile = TypedDict("RestoredFile", {"name": str, "version": str, "size": int, "replaced": bool})
ParkedWebhook = TypedDict("ParkedWebhook", {
    "webhook_id": str, "user_id": str, "type": str, "at": str, "attempts": int, "reason": str, "parked_at": str,
})
ParkedWebhookPage = TypedDict("ParkedWebhookPage", {"webhooks": list[ParkedWebhook], "next_cursor": str | None})
OperatorRole = Literal["viewer", "support", "admin"]
Operator = TypedDict("Operator", {"name": str, "role": OperatorRole, "created_at": str})


class IssuedOperator(Operator):
    token: str


OperatorPage = TypedDict("OperatorPage", {"operators": list[Operator], "next_cursor": str | None})
#: `operator` is `None` with the `ADMIN_TOKEN`.
AdminSession = TypedDict("AdminSession", {"operator": str | None, "role": OperatorRole})
OperatorAction = TypedDict("OperatorAction", {
    "action_id": str, "at": str, "action": str, "user_id": str | None, "operator": str | None,
    "details": dict[str, Any], "address": str | None, "request_id": str | None,
})
OperatorActionPage = TypedDict("OperatorActionPage", {"actions": list[OperatorAction], "next_cursor": str | None})
#: `uptime` is in seconds.
Overview = TypedDict("Overview", {
    "version": str, "uptime": int, "free_disk": dict[str, int | None],
    "last_backup": dict[str, Any] | None, "settings": list[dict[str, Any]],
    "taken_at": str, "users": dict[str, int], "files": int, "used": int, "reserved": int, "garbage": int,
    "history": dict[str, int], "webhooks": dict[str, Any] | None, "fullest": list[dict[str, Any]],
    "largest": list[dict[str, Any]], "growth": list[dict[str, Any]],
})
