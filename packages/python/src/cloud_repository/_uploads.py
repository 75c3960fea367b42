"""Unfinished resumable uploads."""

from typing import cast

from ._http import Call
from ._listing import Listing, Resource
from ._modes import M, Verb
from ._upload import TUS
from .models import UnfinishedUpload, UploadPage


class Uploads(Resource[M]):
    def list(self, *, limit: int | None = None, cursor: str | None = None) -> Listing[M, UnfinishedUpload, UploadPage]:
        """The oldest first."""
        return self._list("uploads", limit=limit, cursor=cursor)

    @Verb
    async def get(self, upload_id: str) -> UnfinishedUpload:
        """If it has been finished since, `file` is what it stored, unless that is replaced or deleted."""
        return cast(UnfinishedUpload, await self._http.call(Call("GET", self._below(upload_id))))

    @Verb
    async def cancel(self, upload_id: str) -> None:
        """Ends an upload and releases its space. Raises `upload_gone` or `not_found` if it has ended."""
        await self._http.call(Call("DELETE", self._below(upload_id), headers=TUS))
