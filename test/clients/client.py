"""Uploads and downloads files with requests. Reads BASE_URL and ACCESS_TOKEN from the environment.

    python3 client.py upload FILE NAME [ETAG]
    python3 client.py download NAME FILE
"""

import os
import sys
import time
from urllib.parse import quote

import requests

TRIES = 5
MAX_WAIT_S = 60
TIMEOUT_S = (10, 300)


def upload(path, name, etag=None):
    """Creates or replaces the file with that name. With an etag, replaces only that version."""
    headers = {"If-Match": f'"{etag}"'} if etag else {}

    def send():
        # requests reads the whole file into memory. For large files use MultipartEncoder of requests-toolbelt:
        #   form = MultipartEncoder({"file": ("file", file)})
        #   session.post(url(name), data=form, headers={"Content-Type": form.content_type})
        with open(path, "rb") as file:
            return session.post(
                url(name), files={"file": file}, headers=headers, timeout=TIMEOUT_S
            )

    print(retry(send).text)


def download(name, path):
    """Downloads a file. Resumes the download of an earlier attempt or run that was cut off."""
    part, tag = path + ".part", path + ".etag"

    def fetch():
        have = os.path.getsize(part) if os.path.exists(part) and os.path.exists(tag) else 0
        headers = {}
        if have > 0:
            with open(tag) as file:
                # With If-Range, the service sends the whole file if it has changed.
                headers = {"Range": f"bytes={have}-", "If-Range": file.read()}
        with session.get(
            url(name), headers=headers, stream=True, timeout=TIMEOUT_S
        ) as response:
            if response.status_code in (200, 206):
                save(response, have if response.status_code == 206 else 0)
            else:
                response.content  # read the problem document
            return response

    def save(response, have):
        with open(part, "ab" if have > 0 else "wb") as file:
            with open(tag, "w") as etag:
                etag.write(response.headers["ETag"])
            for chunk in response.iter_content(1 << 20):
                file.write(chunk)
        # urllib3 before version 2 reports a lost connection as the end of the content.
        if os.path.getsize(part) < have + int(response.headers["Content-Length"]):
            raise requests.ConnectionError("the download was cut off")

    retry(fetch)
    # Replace the target only when the download is complete.
    os.replace(part, path)
    os.remove(tag)


def retry(send):
    """Retries temporary failures after the delay that the service requests. Gives up if that exceeds MAX_WAIT_S."""
    for left in reversed(range(TRIES)):
        try:
            response = send()
        except requests.RequestException as error:
            if left == 0:
                sys.exit(f"no answer: {error}")
            time.sleep(1)
            continue
        # 416: an earlier run received every byte.
        if response.ok or response.status_code == 416:
            return response
        if response.status_code not in (408, 429, 503) or left == 0:
            fail(response)
        wait = int(response.headers.get("Retry-After", 1))
        if wait > MAX_WAIT_S:
            fail(response)
        time.sleep(wait)


def fail(response):
    print(response.status_code, response.text, file=sys.stderr)
    problem = response.json()
    if problem["code"] == "capacity_exceeded":
        print(f"full: {problem['available']} bytes are left", file=sys.stderr)
    sys.exit(1)


def url(name):
    return f"{os.environ['BASE_URL']}/users/me/repo/{quote(name, safe='')}"


with requests.Session() as session:
    session.cookies.set("access_token", os.environ["ACCESS_TOKEN"])
    command, *arguments = sys.argv[1:]
    {"upload": upload, "download": download}[command](*arguments)
