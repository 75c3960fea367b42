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
