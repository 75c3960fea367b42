#!/bin/sh
# Uploads and downloads with curl. BASE_URL and ACCESS_TOKEN come from the environment.
#   sh client.sh upload FILE NAME
#   sh client.sh download NAME FILE
set -eu

# Every byte of a name as %xx, which is right for any name.
url() {
  echo "$BASE_URL/users/me/repo/$(printf %s "$1" | od -An -v -tx1 | tr ' ' % | tr -d '\n')"
}

# Runs curl with the answer's body in the file $1; a refusal goes to the standard error.
request() {
  answer=$1 && shift
  status=$(curl --silent --show-error --cookie "access_token=$ACCESS_TOKEN" \
    --connect-timeout 10 --speed-limit 1 --speed-time 300 \
    --output "$answer" --write-out '%{http_code}' "$@") || { rm -f "$answer"; exit 1; }
  [ "$status" = 200 ] && return
  echo "$status $(cat "$answer")" >&2
  rm -f "$answer"
  exit 1
}

case "${1-}" in
  upload)
    reply=$(mktemp)
    request "$reply" --form "file=@\"$2\"" "$(url "$3")"
    cat "$reply"
    rm -f "$reply"
    ;;
  download)
    # Whatever is there already stays until the whole content has come.
    request "$3.part" "$(url "$2")"
    mv "$3.part" "$3"
    ;;
  *)
    echo 'usage: client.sh upload FILE NAME | client.sh download NAME FILE' >&2
    exit 2
    ;;
esac
