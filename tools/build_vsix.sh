#!/usr/bin/env bash
# Builds client-vscode/energy-lsp.vsix with the server's wheel inside. Usage: tools/build_vsix.sh PYTHON
# (`make client-vscode/energy-lsp.vsix` installs what it needs first.)
set -euo pipefail
cd "$(dirname "$0")/.."
python=${1:-python3}
rm -rf client-vscode/server client-vscode/dist client-vscode/energy-lsp.vsix
"$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir client-vscode/server .
cd client-vscode
cp ../LICENSE ../CHANGELOG.md .
npm run --silent build
npm run --silent package -- --no-rewrite-relative-links >/dev/null
size=$(wc -c <energy-lsp.vsix)
[ "$size" -lt 5000000 ] || { echo "energy-lsp.vsix has $size bytes; the limit is 5 MB." >&2; exit 1; }
