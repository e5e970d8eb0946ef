#!/usr/bin/env bash
# Sets up a real VS Code (code-server) for the editor tests, once: everything is kept under .cache/vscode.
# Needs Node 20, gcc, make, python3, and Debian's chromium, libkrb5-dev and ripgrep (tools/debian-packages.sh).
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
version=4.99.4
here=$root/.cache/vscode
ready=$here/ready-$version
[ -e "$ready" ] && exit 0

echo "Setting up VS Code (code-server $version) for the editor tests; this takes a minute or two, once."
rm -rf "$here"
mkdir -p "$here"
log=$here/setup.log
trap 'status=$?; [ $status = 0 ] || { tail -n 30 "$log" >&2; echo "The editor for the tests could not be set up; the whole log is .cache/vscode/setup.log" >&2; }' EXIT

install() { npm install --no-audit --no-fund --ignore-scripts "$@" >>"$log" 2>&1; }
gyp=$(npm root -g)/npm/node_modules/node-gyp/bin/node-gyp.js
build() { # FOLDER [gyp options]: one native module
    local folder=$1
    shift
    (cd "$folder" && node "$gyp" rebuild --nodedir="$headers" "$@") >>"$log" 2>&1
}
# Debian's Node keeps its headers under /usr; others beside their own binary.
headers=$(dirname "$(dirname "$(readlink -f "$(command -v node)")")")

install --prefix "$here" "code-server@$version"
code=$here/node_modules/code-server/lib/vscode
(cd "$code" && install --omit=dev) &
(cd "$code/extensions" && install --omit=dev) &
wait -n
wait
for module in node-pty @vscode/spdlog native-watchdog @parcel/watcher kerberos; do
    build "$code/node_modules/$module"
done
argon=$here/node_modules/argon2
build "$argon" --module_name=argon2 --module_path="$argon/lib/binding/napi-v3" --napi_build_version=3
mkdir -p "$code/node_modules/@vscode/ripgrep/bin"
ln -sf "$(command -v rg)" "$code/node_modules/@vscode/ripgrep/bin/rg"
touch "$ready"
