"""How clients end: their connections are closed."""

from typing import TypeVar

from ._modes import Asyncio, Blocking, Bound

S = TypeVar("S")


class Closing(Bound[Blocking]):
    def close(self) -> None:
        self._io.client.close()

    def __enter__(self: S) -> S:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncClosing(Bound[Asyncio]):
    async def aclose(self) -> None:
        await self._io.client.aclose()

    async def __aenter__(self: S) -> S:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
