"""Puts the frame `every_type` for a client that has no Arrow of its own.

usage: put_every_type.py GRPC_ADDRESS HTTP_URL
"""

import sys

from framehold_cases import Server
from types_cases import every_type

Server(*sys.argv[1:]).put("every_type", every_type())
