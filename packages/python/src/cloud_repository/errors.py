import json
from typing import Any

import httpx


class CloudRepositoryError(Exception):
    """A refusal by the service, or a failure of the network.

    `code` is one of the API (docs/api.md, Errors) or one of the client: `connection_lost`, `unexpected_response`,
    `file_changed`, `outcome_unknown`, `upload_superseded` (README.md, Errors).
    """

    def __init__(self, code: str, detail: str, response: httpx.Response | None = None, **members: Any) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail
        #: The status of the response, or `None` without a response.
        self.status = None if response is None else response.status_code
        #: The members of the problem document, such as `available` of `capacity_exceeded`.
        self.problem: dict[str, Any] = {"code": code, "detail": detail, **members}
        #: Finds the request in the log of the service.
        self.request_id: str | None = members.get("request_id")
        seconds = "" if response is None else response.headers.get("retry-after", "")
        #: Seconds to wait before a retry, from `Retry-After`.
        self.retry_after: int | None = int(seconds) if seconds.isdecimal() else None


class CursorExpired(CloudRepositoryError):
    """Changes after the cursor are no longer known. List the files again, and follow the new `changes_cursor`."""


def refusal(response: httpx.Response, content: bytes) -> CloudRepositoryError:
    """The error of a response that is not a success. Responses to `HEAD` and those of proxies have no problem."""
    try:
        problem = json.loads(content)
        code, detail = str(problem.pop("code")), str(problem.pop("detail", ""))
    except (ValueError, LookupError, AttributeError, TypeError):
        return unexpected(response, "problem document")
    kind = CursorExpired if code == "cursor_expired" else CloudRepositoryError
    return kind(code, detail, response, **problem)


def unexpected(response: httpx.Response, missing: str) -> CloudRepositoryError:
    """The error of a response that is not from the service, since it lacks what that always sends."""
    detail = f"The response has the status {response.status_code} and no {missing}."
    return CloudRepositoryError("unexpected_response", detail, response)
