# update.sh: downloads a file if it is not the one that the device has. Resumes a download that broke off.
#   BASE_URL=https://files.example.com ACCESS_TOKEN=crt_... sh update.sh NAME FILE
# Exits with 0 if FILE is new, with 3 if it has not changed, and with 1 if the next run should try again.
set -u
url=$BASE_URL/users/me/repo/$1
file=$2
part=$file.part # The beginning of the new file. $part.head has the headers of its response.
temporary=$(mktemp -d) || exit 1
trap 'rm -rf "$temporary"' EXIT
head=$temporary/head
rest=$temporary/rest

# Prints a header from a file of headers.
header() {
  tr -d '\r' <"$2" | grep -i "^$1:" | tail -n 1 | cut -d ' ' -f 2-
}

# Downloads the file, or its rest. Sets $status, and $lost if the connection was lost.
download() {
  set -- --header 'Want-Repr-Digest: sha-256=1'
  if [ -s "$file.etag" ]; then set -- "$@" --header "If-None-Match: $(cat "$file.etag")"; fi
  if [ -s "$part" ] && [ -s "$part.head" ]; then
    # If the file has changed, the response is the whole new file.
    set -- "$@" --header "Range: bytes=$(($(wc -c <"$part")))-" --header "If-Range: $(header etag "$part.head")"
  fi
  : >"$head" && : >"$rest" && lost=
  status=$(curl --silent --header "Authorization: Bearer $ACCESS_TOKEN" --connect-timeout 10 --speed-limit 1 \
    --speed-time 60 --dump-header "$head" --output "$rest" --write-out '%{http_code}' "$@" "$url") || lost=yes
  case $status in
    200) rm -f "$part.head" && mv "$rest" "$part" && mv "$head" "$part.head" || exit 1 ;;
    206) cat "$rest" >>"$part" || exit 1 ;;
  esac
}

for attempt in 1 2 3 4 5; do
  download
  case $status in
    304) rm -f "$part" "$part.head" && exit 3 ;;
    # 416: the last attempt received every byte.
    200 | 206 | 416) if [ -z "$lost" ]; then break; fi ;;
    000 | 408 | 429 | 5??) ;;
    *) echo "$status $(cat "$rest")" >&2 && exit 1 ;;
  esac
  wait=$(header retry-after "$head")
  if [ "$attempt" = 5 ] || [ "${wait:-1}" -gt 60 ]; then exit 1; fi
  sleep "${wait:-1}"
done

digest=$(openssl dgst -sha256 -binary "$part" | base64)
if [ "$(header repr-digest "$part.head")" != "sha-256=:$digest:" ]; then
  echo 'The digest does not match.' >&2
  rm -f "$part" "$part.head"
  exit 1
fi
# If the device stops between these commands, it downloads the file again.
rm -f "$file.etag"
mv "$part" "$file" && header etag "$part.head" >"$file.etag" && rm -f "$part.head"
