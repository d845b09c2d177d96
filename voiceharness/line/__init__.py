"""The duplex line between a scenario and an adapter: pacing, playout, recording, timeline."""
