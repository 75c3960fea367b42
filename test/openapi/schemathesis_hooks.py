"""What the fuzzer leaves out: requests that no schema can tell apart, so that it could not know what to expect."""

import re

import schemathesis
from schemathesis.core import NOT_SET

# The body of an append is any bytes, under the media type of the tus protocol.
schemathesis.serializer.alias("application/offset+octet-stream", "application/octet-stream")

SHA256 = re.compile(r"sha-256=:[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=:")
# Or what the fuzzer takes for one, since it cannot follow the pattern.
CHECKSUM = re.compile(r"0|sha1 [A-Za-z0-9+/]{26}[AEIMQUYcgkosw048]=|sha256 [A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=")
TIME = re.compile(r"\d{4}-\d\d-\d\dT.+")
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@schemathesis.hook
def before_call(context, case, kwargs):
    """No schema says of which content a digest is, so that a well-formed one is as a rule refused; that the metadata of
    an upload has a file name among its keys; that a new upload has a length or defers it, and not both; that a POST in
    place of a PATCH has an offset; that an append without a body has a type; that metadata are JSON; that what expires does so in
    the future; that an update changes something; that only drop links have limits of what they receive; that other
    requests need the files of the user; and that an archive has either a prefix or names."""
    headers = case.headers if case.headers is not None else {}
    if SHA256.fullmatch(str(headers.get("Repr-Digest", ""))):
        del headers["Repr-Digest"]
    if CHECKSUM.fullmatch(str(headers.get("Upload-Checksum", ""))):
        del headers["Upload-Checksum"]
    if len(headers.get("Upload-Metadata", "0" * 4097)) <= 4096:
        headers["Upload-Metadata"] = "filename aGVsbG8udHh0"
    if (case.method, case.operation.path) == ("POST", "/users/me/uploads"):
        if headers.get("Upload-Defer-Length") == "1" and "Upload-Length" in headers:
            del headers["Upload-Defer-Length"]
        elif "Upload-Defer-Length" not in headers:
            headers.setdefault("Upload-Length", "5")
    is_valid = case.meta is None or case.meta.generation.mode.value == "positive"
    if is_valid and "File-Metadata" in headers:
        del headers["File-Metadata"]
    if headers.get("X-HTTP-Method-Override") == "PATCH":
        headers.setdefault("Upload-Offset", "0")
    if case.operation.path == "/users/me/uploads/{upload_id}" and case.body is NOT_SET:
        headers.setdefault("Content-Type", "application/offset+octet-stream")
    if isinstance(case.body, dict) and TIME.fullmatch(str(case.body.get("expires_at"))):
        case.body["expires_at"] = "2100-01-01T00:00:00Z"
    if is_valid and is_link(case) and isinstance(case.body, dict) and case.body.get("kind") != "drop":
        for member in ("max_bytes", "max_files"):
            case.body.pop(member, None)
        case.body = case.body or {"label": ""}
    if case.operation.path == "/users/me/batch" and isinstance(case.body, dict):
        operations = case.body.get("operations")
        for each in operations if isinstance(operations, list) else []:
            if isinstance(each, dict) and each.get("op") == "update":
                each.setdefault("keep", True)
            if isinstance(each, dict) and each.get("prefix") == "":
                each["prefix"] = "none/"
    if is_valid and case.operation.path.endswith("/archive") and "name" in (case.query or {}):
        case.query.pop("prefix", None)
        case.query["name"] = ["hello.txt"]


def is_link(case):
    return re.search(r"/links(/\{link_id\})?$", case.operation.path) is not None


@schemathesis.hook
def filter_case(context, case):
    rules = [
        has_short_name,
        has_plain_fields,
        has_no_metadata,
        has_known_digest,
        has_no_cursor,
        has_one_end,
        has_entity_tags,
        has_one_visibility,
        has_one_target,
        has_short_names,
        has_order_by_name,
        has_folders_to_count,
        has_upload_of_link,
        has_offset_of_append,
    ]
    return all(rule(case) for rule in rules)


def has_short_name(case):
    """JSON Schema counts characters, and names and their segments are limited in bytes."""
    places = [case.path_parameters, case.query, case.body]
    return all(len(name) > 1024 or is_short(name) for place in places for name in names_in(place))


NAMES = {"file_name", "name", "new_name", "prefix", "new_prefix", "contains", "evict"}


def names_in(value):
    """Of all names in JSON, however deep."""
    for each in value if isinstance(value, list) else []:
        yield from names_in(each)
    for key, each in value.items() if isinstance(value, dict) else []:
        if key in NAMES and isinstance(each, str):
            yield each
        yield from names_in(each)


def is_short(name):
    return size_of(name) <= 1024 and all(size_of(segment) <= 255 for segment in name.split("/"))


def has_plain_fields(case):
    """The name of a field stands in a header line, which cannot hold control characters."""
    is_form = "multipart" in str(case.media_type)
    names = case.body if is_form and isinstance(case.body, dict) else []
    return not any(CONTROL.search(name) for name in names)


def has_no_metadata(case):
    """No schema says what JSON the metadata in a form are. A changed form would count as one that breaks the schema."""
    is_form = "multipart" in str(case.media_type)
    return not (is_form and isinstance(case.body, dict) and "metadata" in case.body)


def size_of(text):
    return len(text.encode("utf-8", "surrogatepass"))


def has_known_digest(case):
    """A digest of another algorithm is ignored, which is as good as none."""
    digest = (case.headers or {}).get("Repr-Digest")
    return digest is None or SHA256.fullmatch(str(digest)) is not None


def has_no_cursor(case):
    """A cursor is one that the page before answered; no other of that form is."""
    return "cursor" not in (case.query or {})


def has_one_end(case):
    """That one time is after another no schema says."""
    body = case.body if isinstance(case.body, dict) else {}
    return not ("starts_at" in body and "ends_at" in body)


def has_entity_tags(case):
    """The fuzzer fills headers whose pattern it cannot follow with `0`, and takes that for valid."""
    headers = case.headers or {}
    return all(headers.get(name) != "0" for name in ["If-Match", "If-None-Match"])


def has_one_visibility(case):
    """The query and the form may both say it, but not two."""
    body = case.body if isinstance(case.body, dict) else {}
    said = [place["visibility"] for place in [case.query or {}, body] if "visibility" in place]
    return len(said) < 2 or said[0] == said[1]


def has_one_target(case):
    """A link gives one file or those with a prefix, and takes files below a prefix."""
    body = case.body if isinstance(case.body, dict) else {}
    if case.operation.path != "/users/me/links" or "kind" not in body:
        return True
    return ("prefix" in body) != ("name" in body) and not (body["kind"] == "drop" and "name" in body)


def has_short_names(case):
    """No names are sent as an empty one, and two hundred can be more than the head of a request may hold."""
    names = (case.query or {}).get("name")
    return not case.operation.path.endswith("/archive") or not isinstance(names, list) or 0 < len(names) < 50


def has_order_by_name(case):
    """Only a listing by name rolls names up."""
    query = case.query or {}
    return "delimiter" not in query or query.get("order", "name") in ["name", "-name"]


def has_folders_to_count(case):
    """Only a listing that rolls names up counts what is below."""
    query = case.query or {}
    return query.get("folder_totals") != "true" or ("delimiter" in query and "contains" not in query)


def has_upload_of_link(case):
    """What is no id of an upload there is the name of a file."""
    upload = (case.path_parameters or {}).get("upload_id")
    return not case.operation.path.startswith("/links/") or upload is None or UUID.fullmatch(str(upload)) is not None


def has_offset_of_append(case):
    """A POST in place of a DELETE has no use for an offset, whatever it is."""
    headers = case.headers or {}
    return headers.get("X-HTTP-Method-Override") != "DELETE" or "Upload-Offset" not in headers
