#!/bin/sh
# Set up the real agents that some tests call, each in an environment of its own (their pins clash):
#   setup_real_agents.sh PYTHON FOLDER
# About a minute the first time; nothing when they are there already. Tests that need one that is missing are skipped.
set -eu
python=$1 folder=$2

agent() {
    name=$1 && shift
    wanted="$*"
    if [ "$(cat "$folder/$name/installed" 2>/dev/null)" != "$wanted" ]; then
        rm -rf "${folder:?}/$name"
        "$python" -m venv "$folder/$name"
        "$folder/$name/bin/python" -m pip --disable-pip-version-check install --quiet --no-compile "$@"
        printf '%s\n' "$wanted" > "$folder/$name/installed"
    fi
}

mkdir -p "$folder"
agent pipecat 'pipecat-ai[websocket]>=1.3,<2' uvicorn &
pipecat=$!
agent openai_agents 'openai-agents[realtime]>=0.21.1' starlette uvicorn
wait "$pipecat"
