"""Requests of the benchmark, one JSON object a line on standard input; an answer for each on standard output."""

import json
import sys
import traceback


def serve(operations):
    """Calls operations[request["do"]] with the other members of each request, until the input ends."""
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"result": operations[request.pop("do")](**request)}
        except Exception as error:
            traceback.print_exc()
            answer = {"error": f"{type(error).__name__}: {error}"[:1000]}
        print(json.dumps(answer), flush=True)
