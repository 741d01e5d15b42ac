"""Rows of callers, and rows that the server sends."""
