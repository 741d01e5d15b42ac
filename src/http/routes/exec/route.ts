import { mayUseEngine, tsdbEngineName } from '../../../core/names/engine-names.ts';
import type { Tsdb } from '../../../core/sql/tsdb.ts';
import type { FrameSql } from '../../../query/frame-sql.ts';
import { headWouldExecute, tsdbNotConfigured } from '../../exchange/query-refusals.ts';
import { parseQueryString } from '../../exchange/query-string.ts';
import { withUsableEngine } from '../../exchange/requested-engine.ts';
import type { Route } from '../../exchange/route.ts';
import { answerSql } from './answer-sql.ts';
import { askedFor, type ExecCommand, type ExecDefaults, type ExecSettings, parseExec } from './command.ts';
import { forwardSql } from './forward-sql.ts';
import { type PageSource, readHandle } from './frame-page.ts';
import { execOperation } from './operation.ts';

export interface ExecRouteOptions {
  readonly frames: PageSource['frames'];
  readonly pages: PageSource['pages'];
  /** Undefined while no external database is configured. */
  readonly tsdb: Tsdb | undefined;
  readonly sql: FrameSql;
  readonly settings: ExecDefaults & ExecSettings;
}

/** Dashboards repeat the same few targets; parsing is most of the cost of a hot read. */
const maxRememberedCommands = 1000;
const maxRememberedTarget = 512;

export function execRoute({ frames, pages, tsdb, sql, settings }: ExecRouteOptions): Route {
  const remembered = new Map<string, ExecCommand>();

  function parse(target: string): ExecCommand {
    const known = remembered.get(target);
    if (known !== undefined) return known;
    const command = parseExec(parseQueryString(target), settings);
    if (target.length <= maxRememberedTarget) {
      if (remembered.size >= maxRememberedCommands) remembered.clear();
      remembered.set(target, command);
    }
    return command;
  }

  return {
    path: '/exec',
    takesTicket: true,
    methods: ['GET', 'HEAD'],
    operations: { GET: execOperation(settings) },
    askedFor: (target) => askedFor(parseQueryString(target)),
    handle(exchange) {
      const command = parse(exchange.target);
      switch (command.mode) {
        case 'handle':
          return readHandle(command, exchange, { frames, pages }, settings);
        case 'sql':
          if (exchange.method === 'HEAD') throw headWouldExecute(exchange);
          return answerSql(withUsableEngine(command, exchange.principal), exchange, sql, settings);
        case 'proxy':
          if (tsdb === undefined || !mayUseEngine(exchange.principal, tsdbEngineName)) throw tsdbNotConfigured();
          if (exchange.method === 'HEAD') throw headWouldExecute(exchange);
          return forwardSql(command, exchange, tsdb, settings);
        default:
          command satisfies never;
      }
    },
  };
}
