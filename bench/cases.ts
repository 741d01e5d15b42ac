import { appendCases } from './cases/append.ts';
import { appendBytes } from './cases/append-bytes.ts';
import { appendReadCases } from './cases/append-reads.ts';
import { appendRestart } from './cases/append-restart.ts';
import { cacheShare } from './cases/cache-share.ts';
import { catalogs } from './cases/catalogs.ts';
import { coldPages } from './cases/cold-pages.ts';
import { coldPagesLargeCases } from './cases/cold-pages-large.ts';
import { consoleJump, consolePlot, consoleScroll } from './cases/console.ts';
import { consoleList } from './cases/console-list.ts';
import { csvMemory } from './cases/csv-memory.ts';
import { exportCases } from './cases/exp.ts';
import { federatedCases } from './cases/federated.ts';
import { flightGetCases } from './cases/flight-get.ts';
import { flightPutCases } from './cases/flight-put.ts';
import { follow, followIdle } from './cases/follow.ts';
import { hotPage } from './cases/hot-page.ts';
import { hotPageAccessCases } from './cases/hot-page-access.ts';
import { impCsv } from './cases/imp.ts';
import { jwtFirst } from './cases/jwt-first.ts';
import { lineFlush } from './cases/line-flush.ts';
import { memory } from './cases/memory.ts';
import { metricsScrape } from './cases/metrics-scrape.ts';
import { millionRows } from './cases/million-rows.ts';
import { proxy } from './cases/proxy.ts';
import { pythonPackageCases } from './cases/python-package.ts';
import { sparkCases } from './cases/spark.ts';
import { sqlLoad } from './cases/sql-load.ts';
import { sqlRoundTripCases } from './cases/sql-round-trip.ts';
import { start } from './cases/start.ts';
import { startAccess } from './cases/start-access.ts';
import { tenRows } from './cases/ten-rows.ts';
import { tpchCases } from './cases/tpch.ts';
import { typescriptPackageCases } from './cases/typescript-package.ts';
import { updateRowsCases } from './cases/update-rows.ts';
import { view } from './cases/view.ts';
import { zipfPages } from './cases/zipf-pages.ts';
import type { BenchCase } from './harness/bench-case.ts';

/** In the order in which they run. */
export const cases: readonly BenchCase[] = [
  hotPage,
  ...hotPageAccessCases,
  jwtFirst,
  coldPages,
  ...coldPagesLargeCases,
  cacheShare,
  zipfPages,
  millionRows,
  tenRows,
  proxy,
  ...federatedCases,
  start,
  startAccess,
  memory,
  metricsScrape,
  ...flightGetCases,
  ...flightPutCases,
  ...tpchCases,
  ...sqlRoundTripCases,
  sqlLoad,
  catalogs,
  ...updateRowsCases,
  view,
  impCsv,
  ...exportCases,
  csvMemory,
  ...appendCases,
  lineFlush,
  ...appendReadCases,
  appendRestart,
  appendBytes,
  follow,
  followIdle,
  ...pythonPackageCases,
  ...typescriptPackageCases,
  consoleScroll,
  consoleJump,
  consoleList,
  consolePlot,
  ...sparkCases,
];
