"""Spark's own parser, without a cluster: a statement a line in, what it names a line out, both as JSON."""

import json
import os
import re
import sys

os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"

from pyspark.sql import SparkSession

spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.memory", "1g")
    .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    .config("spark.sql.debug.maxToStringFields", "100000")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("OFF")
parser = spark._jsparkSession.sessionState().sqlParser()
# Puts the queries of WITH where they are used, so that every name left is a table's.
substitution = spark._jvm.org.apache.spark.sql.catalyst.analysis.CTESubstitution
relation = re.compile(r"UnresolvedRelation \[(.*?)\], \[")
command = spark._jvm.java.lang.Class.forName("org.apache.spark.sql.catalyst.plans.logical.Command")


def nodes_of(value):
    """Every node of a plan and of its expressions, however deep."""
    if isinstance(value, list):
        for each in value:
            yield from nodes_of(each)
    elif isinstance(value, dict):
        if "class" in value:
            yield value
        for each in value.values():
            yield from nodes_of(each)


def functions_in(nodes):
    for node in nodes:
        kind = node["class"].rsplit(".", 1)[1]
        if kind == "UnresolvedFunction":
            yield re.sub(r"[\[\]`]", "", str(node["nameParts"])).lower()
        elif kind == "UnresolvedTableValuedFunction":
            yield re.sub(r"[\[\]`]", "", str(node["name"])).lower()
        elif kind == "UnresolvedGenerator":
            yield node["name"]["funcName"].lower()


def answer(value):
    print(json.dumps(value), flush=True)


answer([row[0] for row in spark.sql("SHOW FUNCTIONS").collect()])
for line in sys.stdin:
    request = json.loads(line)
    try:
        for key, value in request["settings"].items():
            spark.conf.set(key, value)
        parsed = parser.parsePlan(request["sql"])
        plan = substitution.apply(parsed)
        nodes = list(nodes_of(json.loads(parsed.toJSON())))
        answer(
            {
                "tables": sorted(set(relation.findall(plan.toString()))),
                "functions": sorted(set(functions_in(nodes))),
                "isCommand": command.isInstance(parsed),
                "kinds": sorted({node["class"].rsplit(".", 1)[1] for node in nodes}),
            }
        )
    except Exception as error:
        answer({"error": str(error)[:300]})
    finally:
        for key in request["settings"]:
            spark.conf.unset(key)
