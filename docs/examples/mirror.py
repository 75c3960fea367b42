"""Keeps a folder equal to a repository. Reads BASE_URL and ACCESS_TOKEN from the environment.

    python3 mirror.py FOLDER

It deletes everything else in the folder.
"""

import hashlib
import os
import sys
from pathlib import Path

from cloud_repository import Client, CloudRepositoryError, CursorExpired, Retry

retry = Retry(tries=1_000_000, max_wait=3600)
client = Client(os.environ["BASE_URL"], os.environ["ACCESS_TOKEN"], retry=retry)
root = Path(sys.argv[1])
markers = set()  # The folders that are kept without a file.

def copy_all():
    """Copies every file, and returns the cursor of the changes since then."""
    cursor, files = None, {}
    for page in client.files.list().pages():
        # From before the first page was read: following it misses nothing.
        cursor = cursor or page["changes_cursor"]
        files.update((file["name"], file) for file in page["files"])
    markers.clear()
    markers.update(name for name in files if name.endswith("/"))
    for path in sorted(root.rglob("*"), reverse=True):  # What is in a folder comes before it.
        if path.is_dir() and not path.is_symlink():
            remove_empty(path)
        elif name_of(path) not in files or not path.is_file() or path.is_symlink():
            path.unlink(missing_ok=True)
    for file in files.values():
        apply({**file, "type": "file.created"})
    return cursor

def apply(change):
    kind, name = change["type"], change.get("name")
    try:
        if kind == "file.renamed":
            move(change["previous_name"], name)
        if kind in ("file.deleted", "file.evicted", "file.expired"):
            remove(name)
        elif kind.startswith("file."):
            copy(change)
    except OSError as error:  # Such as a name that this file system does not take.
        print(f"{name}: {error}", file=sys.stderr)

def copy(file):
    """Gets the current content, which can be newer than the change: then another change follows."""
    name, path = file["name"], path_of(file["name"])
    if name.endswith("/"):
        path.mkdir(parents=True, exist_ok=True)
        markers.add(name)
    elif digest(path) != file["sha256"]:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            client.files.download(name, path)
        except CloudRepositoryError as error:
            # Its own change follows.
            if error.code not in ("not_found", "file_changed"):
                raise
            remove_empty(path.parent)

def move(name, new_name):
    path, new_path = path_of(name), path_of(new_name)
    if path.is_file() and not name.endswith("/"):
        new_path.parent.mkdir(parents=True, exist_ok=True)
        os.replace(path, new_path)
    remove(name)

def remove(name):
    path = path_of(name)
    markers.discard(name)
    if path.is_file() and not name.endswith("/"):
        path.unlink()
    remove_empty(path if name.endswith("/") else path.parent)

def remove_empty(folder):
    """Removes a folder, and then those around it, unless they have files or a marker."""
    while folder != root and f"{name_of(folder)}/" not in markers:
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent

def path_of(name):
    """Where a file belongs, which is in the folder: a symbolic link or a drive may lead elsewhere."""
    path = root.joinpath(*name.split("/"))
    if root not in path.resolve().parents:
        raise PermissionError("it would be outside of the folder")
    return path

def name_of(path):
    return path.relative_to(root).as_posix()

def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None

root.mkdir(parents=True, exist_ok=True)
root = root.resolve()
while True:
    try:
        for change in client.changes.follow(copy_all()):
            apply(change)
    except CursorExpired:
        pass  # The service no longer knows the changes after the cursor.
