"""A phone agent to try the harness on: an appointment line, healthy or with a planted fault."""
