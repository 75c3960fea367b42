"""sync.py: keeps saved games equal on several machines.

    BASE_URL=https://files.example.com ACCESS_TOKEN=crt_... python3 sync.py FILE...

Run it before the game starts and after it ends, in the folder that has the saves: `saves/slot 1.sav` has the same path
there and on the service. If this and another machine have both saved, it keeps both.
"""

import hashlib
import json
import os
import sys
import time
from urllib.parse import quote

import requests

TRIES = 5
MAX_WAIT_S = 60


class Offline(Exception):
    """The service cannot be reached, or asks to wait for too long."""


def sync(path):
    name_of(path)
    content = read(path)
    state = json.loads(read(path + ".sync") or "{}")  # What this machine and the service last had in common.
    if content is not None and digest(content) != state.get("sha256"):
        return send(path, content, state)
    headers = {"If-None-Match": state["etag"]} if state else {}
    response = request("GET", name_of(path), headers)
    if response.status_code != 200:
        return "unchanged" if response.status_code == 304 else "not on the service"
    return take(path, response)


def send(path, content, state):
    """Uploads the save, if the service still has the version from which it was continued."""
    name = name_of(path)
    before = {"If-Match": state["etag"]} if "etag" in state else {"If-None-Match": "*"}
    # Stored before the request, to recognize this content if the answer is lost.
    save(path, state | {"sent": state.get("sent", []) + [digest(content)]})
    response = request("PUT", name, before, content)
    if response.status_code == 200:
        return sent(path, response, content)

    # 412: the service has another version, or none.
    response = request("GET", name)
    if response.status_code == 404:
        return send(path, content, {})
    there = digest(response.content)
    if there == digest(content):
        return sent(path, response, content)
    if there in state.get("sent", []):
        # This machine stored that version, but the answer was lost.
        return send(path, content, {"etag": response.headers["ETag"], "sha256": there})
    copy = f"{path}.conflict-{digest(content)[:8]}"
    # The name depends on the content, so a repetition has no effect.
    request("PUT", name_of(copy), {}, content)
    write(copy, content)
    take(path, response)
    return f"conflict: this machine's save is now {copy}"


def sent(path, response, content):
    save(path, {"etag": response.headers["ETag"], "sha256": digest(content)})
    return "sent"


def take(path, response):
    write(path, response.content)
    save(path, {"etag": response.headers["ETag"], "sha256": digest(response.content)})
    return "received"


def request(method, name, headers=None, content=None):
    """Retries lost answers and temporary refusals. Ends the program after other refusals."""
    for left in reversed(range(TRIES)):
        wait = 1
        try:
            response = session.request(method, url(name), headers=headers, data=content, timeout=60)
            if response.ok or response.status_code in (304, 404, 412):
                return response
            if response.status_code not in (408, 429, 500, 502, 503, 504):
                sys.exit(f"{response.status_code} {response.text}")
            wait = int(response.headers.get("Retry-After", 1))
        except requests.RequestException:
            pass
        if left == 0 or wait > MAX_WAIT_S:
            raise Offline
        time.sleep(wait)


def url(name):
    return f"{os.environ['BASE_URL']}/users/me/repo/{quote(name)}"


def name_of(path):
    name = os.path.normpath(path).replace(os.sep, "/")
    if os.path.isabs(path) or os.path.splitdrive(path)[0] or name.split("/")[0] in (".", ".."):
        sys.exit(f"{path} is not a file below this folder.")
    return name


def digest(content):
    return hashlib.sha256(content).hexdigest()


def save(path, state):
    write(path + ".sync", json.dumps(state).encode())


def read(path):
    if not os.path.exists(path):
        return None
    with open(path, "rb") as file:
        return file.read()


def write(path, content):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path + ".new", "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".new", path)


session = requests.Session()
session.headers["Authorization"] = f"Bearer {os.environ['ACCESS_TOKEN']}"
try:
    for path in sys.argv[1:]:
        print(f"{path}: {sync(path)}")
except Offline:
    print("offline: the next run continues")
