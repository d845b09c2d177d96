#!/bin/sh
# Print the first Python of the wanted versions that runs here: find_python.sh 3.11 3.12
# A command counts only if it runs and says its version: a version manager's shim may exist and do nothing but fail.
set -eu

version_of() {
    "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || true
}

pyenv_root=$(pyenv root 2>/dev/null || true)
for version in "$@"; do
    for candidate in "python$version" python3 python "$pyenv_root/versions/$version".*/bin/python; do
        if [ "$(version_of "$candidate")" = "$version" ]; then
            "$candidate" -c 'import sys; print(sys.executable)'
            exit 0
        fi
    done
done
exit 1
