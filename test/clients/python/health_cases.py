"""The health service, by the stock client of gRPC."""

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from framehold_cases import case, equal, fails

SERVING = health_pb2.HealthCheckResponse.SERVING


def check(server, service):
    with grpc.insecure_channel(server.grpc) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        return stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=5).status


@case("the server as a whole is serving")
def _(server):
    equal(check(server, ""), SERVING)


@case("the Flight service is serving")
def _(server):
    equal(check(server, "arrow.flight.protocol.FlightService"), SERVING)


@case("a service that is not there is not found")
def _(server):
    with fails("NOT_FOUND", error=grpc.RpcError):
        check(server, "nobody")


@case("a watch tells the state at once")
def _(server):
    with grpc.insecure_channel(server.grpc) as channel:
        watch = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest(), timeout=5)
        equal(next(watch).status, SERVING)
        watch.cancel()
