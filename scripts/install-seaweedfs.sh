#!/usr/bin/env bash
# Builds SeaweedFS, on which some tests of the proof run, as `weed` among the programs of `go install`. That command
# itself refuses a module whose go.mod has `replace` directives, so this one is built with its own go.mod. Takes six
# minutes of CPU time, 2 GB in Go's caches, and Go 1.26.6 or newer.
set -euo pipefail
module=github.com/seaweedfs/seaweedfs
version=v0.0.0-20261109003541-7506e5f91cd6

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cp "$(go mod download -json "$module@$version" | sed -n 's/.*"GoMod": "\(.*\)".*/\1/p')" go.mod
chmod u+w go.mod
go mod edit -module=seaweedfs-build -require="$module@$version"
go build -mod=mod -o "$(go env GOPATH)/bin/weed" "$module/weed"
