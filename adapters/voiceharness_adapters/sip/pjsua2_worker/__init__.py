"""The SIP worker on pjsua2 (GPL): imported only in a worker's own process."""
