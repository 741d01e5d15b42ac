"""The services of gRPC itself, health and reflection, by its stock clients."""

import grpc
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase
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


@case("reflection lists the services and describes their messages")
def _(server):
    with grpc.insecure_channel(server.grpc) as channel:
        database = ProtoReflectionDescriptorDatabase(channel)
        equal(
            sorted(database.get_services()),
            [
                "arrow.flight.protocol.FlightService",
                "grpc.health.v1.Health",
                "grpc.reflection.v1.ServerReflection",
            ],
        )
        pool = DescriptorPool(database)
        flight = pool.FindServiceByName("arrow.flight.protocol.FlightService")
        do_get = flight.FindMethodByName("DoGet")
        equal((do_get.input_type.name, do_get.output_type.name, do_get.server_streaming), ("Ticket", "FlightData", True))
        info = pool.FindMessageTypeByName("arrow.flight.protocol.FlightInfo")
        equal(info.fields_by_name["total_records"].number, 4)
        with fails("nobody.Nothing", error=KeyError):
            pool.FindServiceByName("nobody.Nothing")
