"""Listings, read page by page as they are iterated."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import Any, Generic, TypeVar, cast

from ._http import Call, Http, Query, segment
from ._modes import Bound, Iteration, M

T = TypeVar("T")
Page = TypeVar("Page")


class Listing(Iteration[M, T], Generic[M, T, Page]):
    """The entries of a listing. Each iteration begins anew."""

    def __init__(self, http: Http[M], path: str, member: str, query: Mapping[str, Query]) -> None:
        async def entries() -> AsyncGenerator[T, None]:
            async for page in http.pages(path, query):
                for entry in page[member]:
                    yield entry

        super().__init__(http.io, entries)
        self._pages = lambda: cast(AsyncGenerator[Page, None], http.pages(path, query))

    def pages(self) -> Iteration[M, Page]:
        """The pages as the service returns them."""
        return Iteration(self._io, self._pages)


class Resource(Bound[M]):
    """What the API has below a path."""

    def __init__(self, http: Http[M], path: str = "") -> None:
        self._io = http.io
        self._http = http
        self._path = path

    def _list(self, member: str, **query: Query) -> Listing[M, Any, Any]:
        return Listing(self._http, self._path, member, query)

    def _below(self, id: str) -> str:
        return f"{self._path}/{segment(id)}"

    async def _delete(self, id: str) -> None:
        await self._http.call(Call("DELETE", self._below(id)))
