"""Runs cases of a module by name: names come in a line each, answers go out as JSON lines.

usage: run_cases.py MODULE GRPC_ADDRESS HTTP_URL [FOLDER]
"""

import faulthandler
import importlib
import json
import os
import sys
import traceback

from framehold_cases import CASES, Server

LONGEST_CASE_SECONDS = 20


def main(module, grpc, http, *folder):
    # Whatever a library prints must not get between the answers.
    answers = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)

    importlib.import_module(module)
    print(json.dumps({"cases": list(CASES)}), file=answers)
    server = Server(grpc, http, *folder)
    for line in sys.stdin:
        name = line.rstrip("\n")
        faulthandler.dump_traceback_later(LONGEST_CASE_SECONDS, exit=True)
        try:
            CASES[name](server)
            answer = {"name": name, "ok": True}
        except BaseException:  # also what pyarrow derives from neither
            answer = {"name": name, "ok": False, "error": traceback.format_exc(limit=-4)}
        faulthandler.cancel_dump_traceback_later()
        print(json.dumps(answer), file=answers)


if __name__ == "__main__":
    main(*sys.argv[1:])
