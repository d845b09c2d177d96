#!/bin/sh
# Install the Debian packages that are missing, or name them in one line and fail: apt_install.sh PACKAGE...
set -eu

missing=
for package in "$@"; do
    status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
    [ "$status" = "install ok installed" ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
    as_root=
elif sudo -n true 2>/dev/null; then
    as_root="sudo -n"
else
    as_root=refused
fi
if [ "$as_root" = refused ] || ! command -v apt-get >/dev/null; then
    echo "not installed:$missing. On Debian, as root: apt-get install$missing" >&2
    exit 1
fi
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086  # both are lists of words
$as_root apt-get -qq update && $as_root apt-get -qq install -y --no-install-recommends $missing >/dev/null
