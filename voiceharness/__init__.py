"""voiceharness: a test harness for phone voice agents with real audio."""
