"""Uploads a file with tuspy, and resumes after a lost connection. Reads BASE_URL and ACCESS_TOKEN from the environment.

    pip install tuspy
    python3 upload.py FILE NAME

Keeps the URL of the upload in FILE.upload, so that a later run resumes what this one could not finish.
"""

import os
import sys
import time
from pathlib import Path

from tusclient.client import TusClient
from tusclient.exceptions import TusCommunicationError

TRIES = 8
# tuspy reads each chunk into memory.
CHUNK_BYTES = 8 << 20


def upload(path, name):
    client = TusClient(
        os.environ["BASE_URL"] + "/users/me/uploads",
        headers={"Cookie": "access_token=" + os.environ["ACCESS_TOKEN"]},
    )
    uploader = client.uploader(path, metadata={"filename": name}, chunk_size=CHUNK_BYTES)
    kept = Path(path + ".upload")
    if kept.exists():
        uploader.url = kept.read_text().strip()
    reached = tries = 0
    while True:
        try:
            if not uploader.url:
                uploader.url = uploader.create_url()
                kept.write_text(uploader.url + "\n")
            uploader.offset = uploader.get_offset()
            if uploader.offset > reached:
                reached, tries = uploader.offset, 0
            uploader.upload()
            return kept.unlink()
        except TusCommunicationError as error:
            if error.status_code in (404, 410):
                # The upload has ended: create a new one.
                uploader.url = None
            tries += 1
            if tries == TRIES or not is_temporary(error.status_code):
                sys.exit(f"{error}: {error.status_code} {error.response_content}")
        time.sleep(tries - 1)


def is_temporary(status):
    """Whether to try again. None means a lost connection."""
    return status is None or status in (404, 409, 410, 423, 429) or status >= 500


upload(*sys.argv[1:])
