#!/bin/sh
# Make a virtual environment: make_venv.sh PYTHON FOLDER
# Debian keeps venv in a package of its own; it is installed where we may, or named in one line.
set -eu
python=${1:-} folder=$2

if ! version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null); then
    echo "no Python that runs: '$python'. Install Python 3.11, 3.12 or 3.13, or name one with PYTHON=/path/to/python" >&2
    exit 1
fi
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    sh "$(dirname "$0")/apt_install.sh" "python$version-venv"
fi
"$python" -m venv "$folder"
