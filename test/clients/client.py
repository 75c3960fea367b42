"""Uploads and downloads with requests. BASE_URL and ACCESS_TOKEN come from the environment.

    python3 client.py upload FILE NAME
    python3 client.py download NAME FILE
"""

import os
import sys
from urllib.parse import quote

import requests

TIMEOUT_S = (10, 300)


def url(name):
    return f"{os.environ['BASE_URL']}/users/me/repo/{quote(name, safe='')}"


def check(response):
    if response.status_code != 200:
        sys.exit(f"{response.status_code} {response.text}")


def upload(session, path, name):
    # This reads the whole file into memory. For large ones, requests-toolbelt has MultipartEncoder:
    #   form = MultipartEncoder({"file": ("file", file)})
    #   session.post(url(name), data=form, headers={"Content-Type": form.content_type})
    with open(path, "rb") as file:
        response = session.post(url(name), files={"file": file}, timeout=TIMEOUT_S)
    check(response)
    print(response.text)


def download(session, name, path):
    with session.get(url(name), stream=True, timeout=TIMEOUT_S) as response:
        check(response)
        # Whatever is there already stays until the whole content has come.
        with open(path + ".part", "wb") as file:
            for chunk in response.iter_content(1 << 20):
                file.write(chunk)
        os.replace(path + ".part", path)


with requests.Session() as session:
    session.cookies.set("access_token", os.environ["ACCESS_TOKEN"])
    command, source, target = sys.argv[1:]
    {"upload": upload, "download": download}[command](session, source, target)
