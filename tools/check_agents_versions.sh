#!/bin/sh
# Run the tests of the openai-agents plug-in against releases of it, each in a virtual environment of its own:
# check_agents_versions.sh [VERSION...]. Without versions: the oldest that the extra allows, and the newest there is.
# Environments stay in .make/agents-VERSION, so that a second run installs nothing.
set -eu
cd "$(dirname "$0")/.."

oldest=$(sed -n 's/^agents = \["openai-agents>=\([0-9.]*\)".*/\1/p' pyproject.toml)
if [ -z "$oldest" ]; then
    echo "pyproject.toml has no extra 'agents' with a line openai-agents>=VERSION" >&2
    exit 1
fi
[ $# -gt 0 ] || set -- "$oldest" newest
python=$(sh tools/find_python.sh 3.11 3.12 3.13)

for version in "$@"; do
    folder=.make/agents-$version
    requirement=openai-agents
    [ "$version" = newest ] || requirement="openai-agents==$version"
    if [ ! -e "$folder/.installed" ]; then
        sh tools/make_venv.sh "$python" "$folder"
        "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
        "$folder/bin/python" -m pip install --quiet --disable-pip-version-check \
            --editable . "$requirement" 'websockets>=15' --group test
        touch "$folder/.installed"
    fi
    "$folder/bin/python" -c 'import importlib.metadata as m; print("openai-agents", m.version("openai-agents"))'
    CI=true "$folder/bin/pytest" -q tests/scripted/openai_agents tests/scripted/wire
done
