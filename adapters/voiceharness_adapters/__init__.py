"""The adapters that come with voiceharness, each on its own transport."""
