"""Spark's own parser, without a cluster: a statement a line in, the tables that it reads a line out, both as JSON."""

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
    .config("spark.sql.ansi.doubleQuotedIdentifiers", "true")
    .config("spark.sql.debug.maxToStringFields", "100000")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("OFF")
parser = spark._jsparkSession.sessionState().sqlParser()
# Puts the queries of WITH where they are used, so that every name left is a table's.
substitution = spark._jvm.org.apache.spark.sql.catalyst.analysis.CTESubstitution
relation = re.compile(r"UnresolvedRelation \[(.*?)\], \[")


def answer(value):
    print(json.dumps(value), flush=True)


answer([row[0] for row in spark.sql("SHOW FUNCTIONS").collect()])
for line in sys.stdin:
    try:
        plan = substitution.apply(parser.parsePlan(json.loads(line)))
        answer({"tables": sorted(set(relation.findall(plan.toString())))})
    except Exception as error:
        answer({"error": str(error)[:300]})
