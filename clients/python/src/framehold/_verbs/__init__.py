"""The operations of a server."""
