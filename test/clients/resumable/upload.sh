#!/bin/sh
# Uploads a file with curl, and resumes after a lost connection. Reads BASE_URL and ACCESS_TOKEN from the environment.
#   sh upload.sh FILE NAME
# Keeps the URL of the upload in FILE.upload, so that a later run resumes what this one could not finish.
set -eu

# Sends a request, and prints the status of the response, or 000 if there was none.
request() {
  : >"$head" && : >"$reply"
  code=$(curl --silent --cookie "access_token=$ACCESS_TOKEN" \
    --connect-timeout 10 --speed-limit 1 --speed-time 300 --header 'Tus-Resumable: 1.0.0' \
    --output "$reply" --dump-header "$head" --write-out '%{http_code}' "$@") || code=000
  echo "$code"
}

# Prints a header of the response.
header() {
  tr -d '\r' <"$head" | grep -i "^$1:" | tail -n 1 | cut -d ' ' -f 2-
}

# Creates the upload, which reserves its space.
create() {
  status=$(request --request POST --header "Upload-Length: $size" \
    --header "Upload-Metadata: filename $(printf %s "$name" | base64 | tr -d '\n')" "$BASE_URL/users/me/uploads")
  if [ "$status" != 201 ]; then return; fi
  location=$(header location)
  echo "$BASE_URL/users/me/uploads/${location##*/}" >"$file.upload"
  offset=0
}

# Asks for the offset.
look() {
  status=$(request --head "$(cat "$file.upload")")
  if [ "$status" = 200 ]; then offset=$(header upload-offset); fi
}

# Sends the rest of the file.
append() {
  status=$(tail -c "+$((offset + 1))" "$file" | request --request PATCH --upload-file - \
    --header 'Content-Type: application/offset+octet-stream' --header "Upload-Offset: $offset" "$(cat "$file.upload")")
}

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
head=$temporary/head
reply=$temporary/reply

file=$1 name=$2
size=$(($(wc -c <"$file")))
reached=0
tries=0
while [ "$tries" -lt 5 ]; do
  if [ -s "$file.upload" ]; then look; else create; fi
  case $status in
    200 | 201)
      # The file is stored as soon as the service has all its bytes.
      if [ "$offset" -eq "$size" ]; then rm "$file.upload" && exit; fi
      if [ "$offset" -gt "$reached" ]; then reached=$offset tries=0; fi
      append
      ;;
  esac
  case $status in
    204) continue ;;
    # The upload has expired: start over.
    404 | 410) rm -f "$file.upload" ;;
    # Temporary, or the connection was lost.
    000 | 409 | 423 | 429 | 5??) ;;
    *) break ;;
  esac
  wait=$(header retry-after || true)
  # Do not wait longer than a minute.
  if [ "${wait:-$tries}" -gt 60 ]; then break; fi
  sleep "${wait:-$tries}"
  tries=$((tries + 1))
done
echo "$status $(cat "$reply")" >&2
exit 1
