"""What was replaced and deleted."""

from typing import Any, cast

from ._download import Download, Target
from ._http import Call, conditions
from ._listing import Listing, Resource
from ._modes import M, Verb
from .errors import CloudRepositoryError
from .models import HistoryPage, PastVersion, RestoredFile, UploadedFile


class UserHistory(Resource[M]):
    """The history of a user, as operators see it."""

    def list(
        self, *, name: str | None = None, prefix: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Listing[M, PastVersion, HistoryPage]:
        """The newest end first: of one name, or of the names that begin with `prefix`."""
        return self._list("versions", name=name, prefix=prefix, limit=limit, cursor=cursor)

    @Verb
    async def restore(self, version: str, *, name: str | None = None, overwrite: bool = False) -> RestoredFile:
        """Makes the version the current file, under its name or another one.

        Raises `file_exists` if the name is taken, unless `overwrite` is set.
        """
        return cast(
            RestoredFile,
            await self._http.call(Call("POST", f"{self._below(version)}/restore", json=_terms(name, overwrite))),
        )


class History(Resource[M]):
    list = UserHistory.list

    @Verb
    async def download(
        self, version: str, to: Target | None = None, *, start: int = 0, end: int | None = None
    ) -> Download[M]:
        """As `files.download`."""
        return await Download(self._http, self._below(version), start, end).open(to)

    @Verb
    async def restore(
        self,
        version: str,
        *,
        name: str | None = None,
        overwrite: bool = False,
        if_match: str | None = None,
        if_none_match: str | None = None,
    ) -> UploadedFile:
        """Makes the version the current file, under its name or another one.

        Raises `file_exists` if the name is taken, unless `overwrite` is set, and `version_gone` or `not_found` if the
        version cannot be restored any more. The conditions are those of the file that has the name.
        """

        async def settle(error: CloudRepositoryError) -> Any:
            if error.code not in ("not_found", "precondition_failed"):
                return None
            file = None if name is None else await self._http.find_file(name)
            if file is not None and file["version"] == version:
                return file
            raise CloudRepositoryError("outcome_unknown", "The response to the restore was lost.") from error

        headers = conditions(if_match, if_none_match)
        call = Call("POST", f"{self._below(version)}/restore", headers=headers, json=_terms(name, overwrite))
        return cast(UploadedFile, await self._http.call(call, settle))

    @Verb
    async def purge(self, version: str) -> None:
        """Deletes one version for good."""
        await self._delete(version)

    @Verb
    async def purge_all(self) -> None:
        """Deletes all versions for good."""
        await self._http.call(Call("DELETE", self._path))


def _terms(name: str | None, overwrite: bool) -> dict[str, Any]:
    return {"overwrite": overwrite} | ({} if name is None else {"name": name})
