"""A collector of traces: checks every request against the messages of OpenTelemetry, and prints each span in a line.

usage: otlp_receiver.py [STATUS]   answers with this status instead of taking anything
"""

import base64
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from google.protobuf.json_format import MessageToDict, ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

REFUSED = int(sys.argv[1]) if len(sys.argv) > 1 else None


def with_bytes(span):
    """OTLP writes ids as hexadecimal digits, where JSON of protobuf has base64."""
    for key in ("traceId", "spanId", "parentSpanId"):
        if key in span:
            span[key] = base64.b64encode(bytes.fromhex(span[key])).decode()


def plain(attributes):
    return {each["key"]: next(iter(each["value"].values())) for each in attributes}


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if REFUSED is not None:
            self.answer(REFUSED)
            return
        if self.path != "/v1/traces" or self.headers["content-type"] != "application/json":
            self.answer(400)
            return
        document = json.loads(body)
        ids = []
        for resource in document["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                for span in scope["spans"]:
                    ids.append({key: span.get(key) for key in ("traceId", "spanId", "parentSpanId")})
                    with_bytes(span)
        request = ParseDict(document, ExportTraceServiceRequest())
        spans = (
            (span, resource)
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        )
        for (span, resource), known in zip(spans, ids):
            told = MessageToDict(span)
            line = {
                **known,
                "name": span.name,
                "kind": span.kind,
                "start": span.start_time_unix_nano,
                "end": span.end_time_unix_nano,
                "attributes": plain(told.get("attributes", [])),
                "resource": plain(MessageToDict(resource.resource).get("attributes", [])),
                "status": span.status.code,
                "authorization": self.headers["authorization"],
            }
            print(json.dumps(line), flush=True)
        self.answer(200)

    def answer(self, status):
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
print(json.dumps({"port": server.server_address[1]}), flush=True)
server.serve_forever()
