"""The SIP worker on baresip-python (BSD): imported only in a worker's own process."""
