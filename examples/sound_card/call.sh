#!/bin/sh
# Call an agent that is a program of its own, over virtual cables on a private sound server: no device, no session.
# The agent takes one call, so give a file with one scenario, whose end is the user's or a limit.
# Try it:  sh examples/sound_card/call.sh examples/keypad.yaml voiceharness.demo.agent:AppointmentLine
set -eu
scenario=$1 agent=$2
exec voiceharness devices create-cables --private desk -- sh -eu -c '
    room=$(mktemp -d)
    trap "rm -rf \"$room\"" EXIT
    mkfifo "$room/words" "$room/ready"
    voiceharness devices serve "$2" --cables desk <"$room/words" >"$room/ready" &
    exec 3>"$room/words"       # the agent stays until this is closed
    read -r _ <"$room/ready"   # its devices are open
    echo answer >&3
    code=0
    voiceharness run "$1" --adapter sound_card --set cables=desk || code=$?
    exec 3>&-
    wait
    exit "$code"
' call "$scenario" "$agent"
