"""Keeps a folder equal to a repository. Reads BASE_URL and ACCESS_TOKEN from the environment.

    python3 mirror.py FOLDER
"""

import hashlib
import os
import sys

from cloud_repository import Client, CloudRepositoryError, CursorExpired, Retry

retry = Retry(tries=1_000_000, max_wait=3600)
client = Client(os.environ["BASE_URL"], os.environ["ACCESS_TOKEN"], retry=retry)

def copy_all():
    """Copies every file, and returns the cursor of the changes since then."""
    cursor, names = None, set()
    for page in client.files.list().pages():
        # From before the first page was read: following it misses nothing.
        cursor = cursor or page["changes_cursor"]
        for file in page["files"]:
            names.add(file["name"])
            copy(file)
    for name in set(os.listdir()) - names:
        os.remove(name)
    return cursor

def apply(change):
    kind, name = change["type"], change.get("name")
    if kind == "file.renamed" and os.path.exists(change["previous_name"]):
        os.replace(change["previous_name"], name)
    if kind in ("file.deleted", "file.evicted", "file.expired"):
        if os.path.exists(name):
            os.remove(name)
    elif kind.startswith("file."):
        copy(change)

def copy(file):
    """Gets the current content, which can be newer than the change: then another change follows."""
    name = file["name"]
    if os.path.exists(name):
        with open(name, "rb") as content:
            if hashlib.sha256(content.read()).hexdigest() == file["sha256"]:
                return
    try:
        client.files.download(name, name)
    except CloudRepositoryError as error:
        # Its own change follows.
        if error.code not in ("not_found", "file_changed"):
            raise

os.makedirs(sys.argv[1], exist_ok=True)
os.chdir(sys.argv[1])
while True:
    try:
        for change in client.changes.follow(copy_all()):
            apply(change)
    except CursorExpired:
        pass  # The service no longer knows the changes after the cursor.
