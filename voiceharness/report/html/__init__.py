"""Pages that open from disk: of a call, and of a suite."""
