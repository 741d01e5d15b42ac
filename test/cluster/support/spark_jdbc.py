"""Writes to the frames `from_spark` and `again`, and reads them, with Spark's own JDBC source, as its guide does.

usage: spark_jdbc.py SPARK_URL GRPC_ADDRESS
"""

import json
import sys
from datetime import date, datetime
from decimal import Decimal

from pyspark.sql import SparkSession

remote, address = sys.argv[1:]
spark = SparkSession.builder.remote(remote).getOrCreate()
url = f"jdbc:arrow-flight-sql://{address}/?useEncryption=false"
properties = {"driver": "org.apache.arrow.driver.jdbc.ArrowFlightJdbcDriver"}

columns = "id BIGINT NOT NULL, name STRING, price DECIMAL(10,2), ratio DOUBLE, day DATE, placed TIMESTAMP, good BOOLEAN"
rows = [
    (n, f"x{n}" if n % 2 else None, Decimal(n) / 4, n / 2, date(2026, 1, 31), datetime(2026, 1, 31, 12), n > 2)
    for n in range(6)
]
frame = spark.createDataFrame(rows, columns).repartition(2)
frame.write.jdbc(url, "from_spark", mode="append", properties=properties)
frame.drop("good").limit(3).write.jdbc(url, "again", mode="overwrite", properties=properties)

as_written = {**properties, "customSchema": "id BIGINT"}
parts = spark.read.jdbc(url, "from_spark", "id", lowerBound=0, upperBound=6, numPartitions=3, properties=as_written)
found = parts.where("id >= 2 AND name IS NOT NULL").orderBy("id").collect()
query = "SELECT count(*)::INTEGER AS n FROM again"
answer = {
    "types": dict(parts.dtypes),
    "rows": [[str(value) for value in row] for row in found],
    "sum": str(parts.selectExpr("sum(price)").first()[0]),
    "again": spark.read.format("jdbc").options(url=url, query=query, **properties).load().first()[0],
}
print(json.dumps(answer))
