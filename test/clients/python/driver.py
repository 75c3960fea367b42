"""Runs programs, each a line of JSON on standard input, and prints what they return, as a line of JSON.

    python driver.py Client|AsyncClient

They are written for `AsyncClient`. Without `async` and `await`, the same programs are for `Client`.
"""

import asyncio
import hashlib
import io
import json
import os
import re
import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace

import cloud_repository
import httpx
from cloud_repository import AdminClient, AsyncAdminClient, AsyncClient, Client, CloudRepositoryError, Retry

IMPATIENT = Retry(first_delay=0.005)
clients = []
is_async = sys.argv[1] == "AsyncClient"


def connect(url=None, **options):
    kind = AsyncClient if is_async else Client
    clients.append(kind(url or os.environ["URL"], os.environ["TOKEN"], **{"retry": IMPATIENT, **options}))
    return clients[-1]


def open_with(token):
    clients.append((AsyncClient if is_async else Client)(os.environ["DIRECT"], token, retry=IMPATIENT))
    return clients[-1]


def open_admin(token=None):
    kind = AsyncAdminClient if is_async else AdminClient
    clients.append(kind(os.environ["ADMIN"], token or os.environ["ADMIN_TOKEN"], retry=IMPATIENT))
    return clients[-1]


def fake(answer):
    """A client of a service that answers each request in this way."""
    transport = httpx.MockTransport(answer)
    http = httpx.AsyncClient(transport=transport) if is_async else httpx.Client(transport=transport)
    return connect("http://fake", http=http)


def fake_uploads(**answers):
    """A client of a service that answers requests for resumable uploads so, by how many appends there were."""
    kept.asked, kept.sizes = [], []

    def answer(request):
        kept.asked.append(request.method)
        kept.sizes.append(len(request.content))
        if request.method == "GET" and request.url.path.endswith("/uploads"):
            return httpx.Response(200, json={"uploads": [], "next_cursor": None})
        return answers[request.method](kept.asked.count("PATCH"))

    return fake(answer)


def created(_):
    return httpx.Response(201, headers={"location": "/users/me/uploads/u1"})


def offset(status, at):
    return httpx.Response(status, headers={"upload-offset": str(at)})


def lost(*_):
    raise httpx.ReadError("lost")


def chunked(content, size=77_777):
    return (content[at : at + size] for at in range(0, len(content), size))


def sha256(content):
    return hashlib.sha256(content).hexdigest()


kept = SimpleNamespace(client=connect(), direct=connect(os.environ["DIRECT"]))
names = {**globals(), **vars(cloud_repository)}


async def execute(program):
    text = program if is_async else re.sub(r"\b(?:async|await) ", "", program)
    prefix = "async " if is_async else ""
    exec(f"{prefix}def run(client, direct):\n{textwrap.indent(textwrap.dedent(text), ' ')}", names)
    returned = names["run"](kept.client, kept.direct)
    return await returned if is_async else returned


async def main():
    while line := await asyncio.to_thread(sys.stdin.readline):
        try:
            result = {"result": await execute(json.loads(line))}
        except CloudRepositoryError as error:
            problem = {"code": error.code, "status": error.status, "problem": error.problem}
            result = {"error": {**problem, "kind": type(error).__name__, "retry_after": error.retry_after}}
        except Exception as error:
            result = {"error": {"code": type(error).__name__, "detail": str(error)}}
        print(json.dumps(result), flush=True)
    for client in clients:
        await client.aclose() if is_async else client.close()


asyncio.run(main())
