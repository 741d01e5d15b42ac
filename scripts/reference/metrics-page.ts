import { metricTable } from '../../src/server/metric-table.ts';

/** docs/reference/metrics.md, made from the table of metrics. */
export function metricsPage(): string {
  const rows = metricTable.map(({ name, kind, labels, help, isOfTenants }) => {
    const shown = kind === 'counter' ? `${name}_total` : name;
    const told = isOfTenants === true ? `${help} Only for operators who are known.` : help;
    return `| \`${shown}\` | ${kind} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${told} |`;
  });
  return `<!-- Made by scripts/generate-docs.mjs from src/server/metric-table.ts; do not edit. -->
# Metrics

\`GET /metrics\` gives them in the text format 0.0.4 of Prometheus, or as OpenMetrics 1.0.0 where the request's \`Accept\` names
\`application/openmetrics-text\`.

- On the HTTP listener it needs the role operator where there is authentication: give Prometheus a token (\`authorization.credentials_file\`).
- On \`metrics.bind_address\`, a listener of its own, nobody is asked who they are, and nothing is told of tenants.
- No label is the name of a frame, a statement, an address or an id: there are as many series as there are routes, engines and, for operators, tenants.
- Counters count since the start of the process. The histograms of HTTP and gRPC have the bounds of the OpenTelemetry conventions, with 0.5 to 2.5 ms
  below and 30 to 600 s above them; the others have fewer, from 1 ms to 600 s.
- Time to the first byte and to the last byte are two histograms: a slow reader does not look like a slow server.
- A metric whose value is not known is left out: the external database's where there is none, those of \`/proc\` where the system is not Linux.

[Operating](../guides/operating.md) has the dashboards and alerts that are made of them.

| metric | type | labels | meaning |
|---|---|---|---|
${rows.join('\n')}
`;
}
