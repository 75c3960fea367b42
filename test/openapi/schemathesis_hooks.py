"""What the fuzzer leaves out: requests that no schema can tell apart, so that it could not know what to expect."""

import re

import schemathesis

SHA256 = re.compile(r"sha-256=:[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=:")


@schemathesis.hook
def before_call(context, case, kwargs):
    """No schema says of which content a digest is, so that a well-formed one is as a rule refused."""
    if case.headers and SHA256.fullmatch(str(case.headers.get("Repr-Digest", ""))):
        del case.headers["Repr-Digest"]


@schemathesis.hook
def filter_case(context, case):
    rules = [has_short_name, has_known_digest, has_no_cursor, has_one_end, has_entity_tags, has_one_visibility]
    return all(rule(case) for rule in rules)


def has_short_name(case):
    """JSON Schema counts characters, and names are limited in bytes."""
    body = case.body if isinstance(case.body, dict) else {}
    names = [(case.path_parameters or {}).get("file_name"), (case.query or {}).get("prefix"), body.get("name")]
    return all(size_of(name) <= 255 or len(name) > 255 for name in names if isinstance(name, str))


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
