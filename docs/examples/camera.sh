# camera.sh: uploads pictures, oldest first, and deletes each one once the service has stored it. Ends, with 1, only if
# the token has been revoked or has expired, or does not permit uploads under PREFIX.
#   BASE_URL=https://files.example.com ACCESS_TOKEN=crt_... sh camera.sh FOLDER PREFIX
# FOLDER has a folder for each day. With the prefix camera-17/, the picture 2026-11-28/120000.jpg is stored as
# camera-17/2026-11-28/120000.jpg.
set -u
export LC_ALL=C
: "${BASE_URL:?is missing}" "${ACCESS_TOKEN:?is missing}" "${1:?FOLDER is missing}" "${2?PREFIX is missing}"
MAX_QUEUED=${MAX_QUEUED:-1000} # If there are more pictures, the oldest are deleted without being sent.
MAX_BACKOFF=60
MAX_WAIT=3600

cd "$1" || exit 1
prefix=$2
head=$(mktemp) && answer=$(mktemp) || exit 1
trap 'rm -f "$head" "$answer"' EXIT
trap 'exit 0' INT TERM
backoff=1

# Sets $status, which is 000 if the answer was lost, and $asked to the seconds in Retry-After, if any.
upload() {
  : >"$head" && : >"$answer"
  status=$(curl --silent --upload-file "$1" --header "Authorization: Bearer $ACCESS_TOKEN" \
    --header 'If-None-Match: *' --connect-timeout 10 --speed-limit 1 --speed-time 60 \
    --output "$answer" --dump-header "$head" --write-out '%{http_code}' "$BASE_URL/users/me/repo/$prefix$1") || status=000
  asked=$(tr -d '\r' <"$head" | grep -i '^retry-after: [0-9]*$' | tail -n 1 | cut -d ' ' -f 2)
}

pause() {
  wait=${asked:-$backoff}
  if [ "$wait" -gt "$MAX_WAIT" ]; then wait=$MAX_WAIT; fi
  echo "$1: $status, next attempt in $wait s" >&2
  sleep "$wait" & wait $! # A signal ends `wait`, but not `sleep`.
  backoff=$((backoff * 2))
  if [ "$backoff" -gt "$MAX_BACKOFF" ]; then backoff=$MAX_BACKOFF; fi
}

while true; do
  set -- */*.jpg # In the order of their days and times.
  if [ ! -e "$1" ]; then
    sleep 1
    continue
  fi
  while [ $# -gt "$MAX_QUEUED" ]; do
    rm -f "$1"
    shift
  done
  upload "$1"
  case $status in
    # 412: an earlier attempt stored it, and its answer was lost. 400, 413: the service never accepts it.
    200 | 201 | 400 | 412 | 413)
      if rm -f "$1"; then
        # The camera has gone on to another day.
        if [ $# -gt 1 ] && [ "${1%/*}" != "${2%/*}" ]; then rmdir "${1%/*}" 2>/dev/null; fi
        backoff=1 && continue
      fi
      ;;
    403)
      if grep -qE '"code":"(access_token_|scope_)' "$answer"; then
        echo "$1: $(cat "$answer")" >&2
        exit 1
      fi
      ;;
  esac
  pause "$1"
done
