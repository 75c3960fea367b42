"""The client of Cloud Repository. `Client` blocks, and `AsyncClient` is for asyncio."""

from ._download import Download
from ._http import Retry
from .client import AsyncClient, Client
from .errors import CloudRepositoryError, CursorExpired

__all__ = ["AsyncClient", "Client", "CloudRepositoryError", "CursorExpired", "Download", "Retry"]
