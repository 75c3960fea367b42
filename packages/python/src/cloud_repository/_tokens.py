"""Access tokens."""

from typing import cast

from ._http import Call
from ._listing import Listing, Resource
from ._modes import M, Verb
from .models import AccessToken, AccessTokenPage, AccessTokenTerms, IssuedAccessToken


class Tokens(Resource[M]):
    """The access tokens of a user."""

    @Verb
    async def create(self, terms: AccessTokenTerms | None = None) -> IssuedAccessToken:
        """Makes a token that permits no more than the caller's. Its secret is in this response only."""
        return cast(IssuedAccessToken, await self._http.call(Call("POST", self._path, json=terms or {})))

    def list(self, *, limit: int | None = None, cursor: str | None = None) -> Listing[M, AccessToken, AccessTokenPage]:
        """The oldest first, without secrets."""
        return self._list("access_tokens", limit=limit, cursor=cursor)

    @Verb
    async def revoke(self, token_id: str) -> None:
        """Also revokes the tokens that it has made."""
        await self._delete(token_id)
