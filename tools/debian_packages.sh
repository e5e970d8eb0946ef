#!/usr/bin/env bash
# Makes sure that the programs the tests drive are there; installs Debian's packages where it may, else says how.
# Usage: tools/debian_packages.sh PACKAGE...
set -euo pipefail
missing=()
for package in "$@"; do
    dpkg-query --show --showformat='${Status}\n' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
[ ${#missing[@]} = 0 ] && exit 0
command="apt-get update && apt-get install --yes --no-install-recommends ${missing[*]}"
if [ "$(id -u)" = 0 ]; then as_root=(bash -c); elif sudo -n true 2>/dev/null; then as_root=(sudo bash -c); else
    echo "The tests need Debian packages that are not installed. As root: $command" >&2
    exit 1
fi
echo "Installing ${missing[*]} for the tests."
DEBIAN_FRONTEND=noninteractive "${as_root[@]}" "$command" >/dev/null
