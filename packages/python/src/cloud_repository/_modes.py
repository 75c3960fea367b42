"""Runs the same coroutines in two ways: on the spot, or in an event loop.

What the client does is written once, in coroutines that reach the outside through `Blocking` or `Asyncio`. What they
await of `Blocking` never suspends, so that one step runs them to their end. `Verb` shows a coroutine as a plain method
of `Client` and as an asynchronous one of `AsyncClient`. `Iteration` does so for generators.
"""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

import httpx

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class Blocking:
    def __init__(self, client: httpx.Client) -> None:
        self.client = client
        self.run: Callable[[Any], Any] = _finish
        self.body: Callable[[Any], Any] = iterate

    async def send(self, request: httpx.Request, stream: bool) -> httpx.Response:
        return self.client.send(request, stream=stream)

    async def chunks(self, response: httpx.Response) -> AsyncGenerator[bytes, None]:
        for chunk in response.iter_raw():
            yield chunk

    async def close(self, response: httpx.Response) -> None:
        response.close()

    async def call(self, function: Callable[..., T], *args: Any) -> T:
        return function(*args)

    async def next(self, chunks: Any) -> Any:
        return next(chunks, None)

    async def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class Asyncio:
    """What blocks runs in a thread."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client
        self.run: Callable[[Any], Any] = lambda coroutine: coroutine
        self.body = self.run

    async def send(self, request: httpx.Request, stream: bool) -> httpx.Response:
        return await self.client.send(request, stream=stream)

    async def chunks(self, response: httpx.Response) -> AsyncGenerator[bytes, None]:
        async for chunk in response.aiter_raw():
            yield chunk

    async def close(self, response: httpx.Response) -> None:
        await response.aclose()

    async def call(self, function: Callable[..., T], *args: Any) -> T:
        return await asyncio.to_thread(function, *args)

    async def next(self, chunks: Any) -> Any:
        return await (anext(chunks, None) if hasattr(chunks, "__anext__") else self.call(next, chunks, None))

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


Outside = Blocking | Asyncio
M = TypeVar("M", bound=Outside)


class Bound(Generic[M]):
    """What has verbs."""

    _io: M


class Verb(Generic[P, R]):
    def __init__(self, function: Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]) -> None:
        self._function = function
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, of: None, owner: type) -> Verb[P, R]: ...
    @overload
    def __get__(self, of: Bound[Blocking], owner: type) -> Callable[P, R]: ...
    @overload
    def __get__(self, of: Bound[Asyncio], owner: type) -> Callable[P, Coroutine[Any, Any, R]]: ...
    def __get__(self, of: Any, owner: type) -> Any:
        @functools.wraps(self._function)
        def verb(*args: Any, **options: Any) -> Any:
            return of._io.run(self._function(of, *args, **options))

        return self if of is None else verb


class Iteration(Bound[M], Generic[M, T]):
    """For `for` with `Client`, and for `async for` with `AsyncClient`. Each iteration begins anew."""

    def __init__(self, io: M, begin: Callable[[], AsyncGenerator[T, None]]) -> None:
        self._io = io
        self._begin = begin

    def __iter__(self: Iteration[Blocking, T]) -> Generator[T, None, None]:
        return iterate(self._begin())

    def __aiter__(self: Iteration[Asyncio, T]) -> AsyncGenerator[T, None]:
        return self._begin()


def iterate(items: AsyncGenerator[T, None]) -> Generator[T, None, None]:
    try:
        while True:
            yield _finish(anext(items))
    except StopAsyncIteration:
        return
    finally:
        _finish(items.aclose())


def _finish(awaitable: Any) -> Any:
    """The result of an awaitable that never suspends."""
    step = awaitable.__await__()
    try:
        step.send(None)
    except StopIteration as end:
        return end.value
    step.close()
    raise TypeError("Client cannot wait for an event loop: use AsyncClient.")
