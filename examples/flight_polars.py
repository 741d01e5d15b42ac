# Puts a Polars frame over Arrow Flight, and gets it and an SQL result back without a copy for each value.
# Run: npm start; pip install polars pyarrow adbc-driver-flightsql; python examples/flight_polars.py
# A server elsewhere: FRAMEHOLD_FLIGHT=grpc://host:50052. docs/guides/access.md shows clients with tokens and TLS.
import json
import os

import adbc_driver_flightsql.dbapi as flight_sql
import polars
from pyarrow import flight

address = os.environ.get("FRAMEHOLD_FLIGHT", "grpc://127.0.0.1:50052")

trades = polars.DataFrame(
    {
        "symbol": ["BTC", "ETH", "BTC", "ETH"],
        "price": [71_039.35, 3_012.5, 71_044.5, 3_013.0],
        "amount": [5, 2, 1, 7],
    }
)

with flight.connect(address) as client:
    # The path of a descriptor is the handle; the command can say more: mode, time to live.
    command = json.dumps({"handle": "example_trades", "mode": "overwrite"}).encode()
    table = trades.to_arrow()
    writer, _ = client.do_put(flight.FlightDescriptor.for_command(command), table.schema)
    with writer:
        writer.write_table(table)

    # A ticket may be a handle alone, or name columns and rows.
    ticket = flight.Ticket(json.dumps({"handle": "example_trades", "columns": ["symbol", "price"]}).encode())
    back = polars.from_arrow(client.do_get(ticket).read_all())
    print(back.shape, back["price"].max())

with flight_sql.connect(address) as connection, connection.cursor() as cursor:
    cursor.execute("SELECT symbol, sum(price * amount) AS value FROM example_trades GROUP BY symbol ORDER BY symbol")
    for row in cursor.fetch_polars().rows():
        print(row)
