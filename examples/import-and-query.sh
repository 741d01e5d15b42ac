#!/usr/bin/env bash
# Imports a CSV as a frame and asks SQL about it, with curl alone.
# Run: npm start, and in another terminal: examples/import-and-query.sh
# A server elsewhere: FRAMEHOLD_SERVER=http://host:9000. With tokens, add -H "Authorization: Bearer $FRAMEHOLD_TOKEN".
set -euo pipefail
server=${FRAMEHOLD_SERVER:-http://127.0.0.1:9000}
ask() { curl --silent --show-error --fail-with-body "$@"; }

# The answer comes when the frame is on the disk. Types of columns are found out from all rows.
ask --data-binary @- "$server/imp?name=weather&overwrite=true" -o /dev/null <<'CSV'
day,city,temperature
2026-01-30,Lima,24.5
2026-01-30,Oslo,-7.0
2026-01-31,Lima,25.5
2026-01-31,Oslo,-3.0
CSV

# Values go into parameters, not into the text of the statement.
ask "$server/sql" -H 'Content-Type: application/json' --data-binary @- <<'JSON'
{"sql": "SELECT city, avg(temperature) AS mean FROM weather WHERE temperature > ? GROUP BY city ORDER BY city",
 "params": [-5], "format": "csv"}
JSON

# The same rows as a file that other programs open.
ask "$server/exp?handle=weather&fmt=parquet" -o "${1:-weather.parquet}"
