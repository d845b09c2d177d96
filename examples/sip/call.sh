#!/bin/sh
# Run scenarios against an agent at a SIP address.
# Try it:  sh examples/sip/call.sh examples/quiet_user.yaml sip:agent@127.0.0.1:5060
set -eu
scenarios=$1 address=$2
exec voiceharness run "$scenarios" --adapter sip --set target="$address"
