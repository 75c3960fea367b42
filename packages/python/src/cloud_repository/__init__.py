"""The client of Cloud Repository. `Client` and `AdminClient` block; those that begin with `Async` are for asyncio."""

from ._download import Archive, Download
from ._http import Retry
from .admin import AdminClient, AsyncAdminClient
from .client import AsyncClient, Client
from .errors import CloudRepositoryError, CursorExpired

__all__ = [
    "AdminClient",
    "Archive",
    "AsyncAdminClient",
    "AsyncClient",
    "Client",
    "CloudRepositoryError",
    "CursorExpired",
    "Download",
    "Retry",
]
