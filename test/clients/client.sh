#!/bin/sh
# Uploads and downloads files with curl. Reads BASE_URL and ACCESS_TOKEN from the environment.
#   sh client.sh upload FILE NAME [ETAG]
#   sh client.sh download NAME FILE
set -eu

# Prints the URL of a file. Encodes every byte of its name but slashes as %xx, which is valid for any name.
url() {
  echo "$BASE_URL/users/me/repo/$(printf %s "$1" | od -An -v -tx1 | tr ' ' % | tr -d '\n' | sed 's|%2f|/|g')"
}

# Runs curl and writes the body of the answer to the file $1. Sets $status, which is 000 if there was no answer, and
# sets $lost if the answer is incomplete.
send() {
  answer=$1 && shift
  : >"$answer" && : >"$head" && lost=
  status=$(curl --silent --cookie "access_token=$ACCESS_TOKEN" \
    --connect-timeout 10 --speed-limit 1 --speed-time 300 \
    --output "$answer" --dump-header "$head" --write-out '%{http_code}' "$@") || lost=yes
}

# Prints a header of the answer.
header() {
  tr -d '\r' <"$head" | grep -i "^$1:" | tail -n 1 | cut -d ' ' -f 2-
}

# Creates or replaces the file with that name. With an etag, replaces only that version.
upload() {
  send "$reply" ${etag:+--header} ${etag:+"If-Match: \"$etag\""} --form "file=@\"$file\"" "$(url "$name")"
}

# Downloads a file. Resumes the download of an earlier attempt or run that was cut off. With If-Range, the service sends
# the whole file if it has changed.
download() {
  have=0
  if [ -s "$file.part" ] && [ -s "$file.etag" ]; then have=$(($(wc -c <"$file.part"))); fi
  set --
  if [ "$have" -gt 0 ]; then set -- --header "Range: bytes=$have-" --header "If-Range: $(cat "$file.etag")"; fi
  send "$file.rest" "$@" "$(url "$name")"
  case $status in
    200) : >"$file.part" && header etag >"$file.etag" && mv "$file.rest" "$file.part" ;;
    206) cat "$file.rest" >>"$file.part" && rm "$file.rest" ;;
  esac
}

# Retries temporary failures after the delay that the service requests, unless that exceeds a minute.
retry() {
  for try in 1 2 3 4 5; do
    "$1"
    case $status in
      # 416: an earlier run received every byte.
      2?? | 416) if [ -z "$lost" ]; then return; fi ;;
      000 | 408 | 429 | 503) ;;
      *) break ;;
    esac
    if [ "$try" -lt 5 ]; then
      wait=$(header retry-after || true)
      # Do not wait longer than a minute.
      if [ "${wait:-1}" -gt 60 ]; then break; fi
      sleep "${wait:-1}"
    fi
  done
  fail
}

fail() {
  echo "$status $(cat "$answer")" >&2
  if grep -q '"code":"capacity_exceeded"' "$answer"; then
    echo "full: $(sed 's/.*"available":\([0-9]*\).*/\1/' "$answer") bytes are left" >&2
  fi
  rm -f "$file.rest"
  exit 1
}

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
head=$temporary/head
reply=$temporary/reply

case "${1-}" in
  upload)
    file=$2 name=$3 etag=${4-}
    retry upload
    cat "$reply"
    ;;
  download)
    name=$2 file=$3
    retry download
    # Replace the target only when the download is complete.
    mv "$file.part" "$file"
    rm -f "$file.etag" "$file.rest"
    ;;
  *)
    echo 'usage: client.sh upload FILE NAME [ETAG] | client.sh download NAME FILE' >&2
    exit 2
    ;;
esac
