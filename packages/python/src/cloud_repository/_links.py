"""Links for people without an account."""

from typing import cast

from ._http import Call
from ._listing import Listing, Resource
from ._modes import M, Verb
from .errors import CloudRepositoryError
from .models import CreatedLink, Link, LinkChanges, LinkPage, LinkTerms


class UserLinks(Resource[M]):
    """The links of a user, as operators see them."""

    def list(self, *, limit: int | None = None, cursor: str | None = None) -> Listing[M, Link, LinkPage]:
        """The oldest first, without secrets."""
        return self._list("links", limit=limit, cursor=cursor)

    @Verb
    async def update(self, link_id: str, changes: LinkChanges) -> Link:
        """Changes what is given. `None` takes a limit or the password away."""
        return cast(Link, await self._http.call(Call("PATCH", self._below(link_id), json=changes)))

    @Verb
    async def revoke(self, link_id: str) -> None:
        """Ends a link for everyone. Downloads in progress go on."""
        await self._delete(link_id)


class Links(UserLinks[M]):
    @Verb
    async def create(self, terms: LinkTerms) -> CreatedLink:
        """The secret and the address are in this response only."""
        return cast(CreatedLink, await self._http.call(Call("POST", self._path, json=terms)))

    @Verb
    async def renew_secret(self, link_id: str) -> CreatedLink:
        """Gives the link a new address, which is in this response only. The old one ends at once."""

        async def again(_: CloudRepositoryError) -> None:
            """A secret that nobody has seen ends with the next one."""

        return cast(CreatedLink, await self._http.call(Call("POST", self._below(link_id) + "/secret"), again))
