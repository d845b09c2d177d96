"""Pure signal code on numpy: no event loop, no clock, no device."""
