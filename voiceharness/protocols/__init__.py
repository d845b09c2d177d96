"""Protocols as state machines without I/O: messages in, events and messages out."""
