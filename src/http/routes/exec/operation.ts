import type { Operation } from '../../exchange/operation.ts';
import { choice, flag, frameName, type Parameter, quoteNonFiniteText, text } from '../../exchange/parameters.ts';
import { engineParameter, engineReportSchema } from '../../exchange/requested-engine.ts';
import { engineErrors, frameErrors, sqlErrors, tsdbErrors } from '../../openapi/error-groups.ts';
import { columnSchema } from '../handles/summary.ts';
import type { ExecDefaults } from './command.ts';

/** The parameters and answers of /exec. Its own parser reads the same names, faster and with QuestDB's leniency. */
export function execOperation({ defaultFmt, defaultEngine, maxLimit }: ExecDefaults): Operation {
  const most = maxLimit === undefined ? '' : ` This server gives at most ${maxLimit} rows at once.`;
  return {
    access: 'readFrames',
    summary: 'Reads rows of a frame, or of a statement',
    description:
      'With `handle` a frame of this server; with `query` a statement, by an engine over the frames (`engine=local`, or one that the operator has named) or by the external database (`engine=tsdb`), whose answer passes as it is. Parameters that are not known are ignored, as QuestDB does.',
    parameters: {
      handle: frameName('The frame to read. Not together with `query`.'),
      query: text('The statement to run. Not together with `handle`.'),
      fmt: { ...choice(['json'], 'The form of the answer.'), ...(defaultFmt === undefined && { parse: requires }) },
      limit: text(
        `\`N\`: the first N rows; \`lo,hi\`: rows lo to hi, from 1 and inclusive; \`lo,\`: to the end. Without it, the first 1000 of a frame, all of a statement.${most}`,
      ),
      engine: engineParameter(defaultEngine),
      quoteLargeNum: flag('Every LONG as a string, for parsers that round at 2^53.'),
      quoteNonFinite: flag(quoteNonFiniteText),
      count: flag('Of a statement: `count` is that of the whole result.'),
      nm: flag('Of a statement: only the rows and their count.'),
      cols: text('Of a statement: which columns, in this order, with commas between them.'),
      timings: flag('Of a statement: how long it took, in nanoseconds.'),
      explain: flag("Of a statement: QuestDB's object `explain`."),
      src: text('`con`, as the web console of QuestDB sends it: the same as `quoteLargeNum=true`.'),
      version: text(
        "Of a frame: the `versionId` or the lineage that the rows must be of, else 409. A bare number is the version of QuestDB's protocol and has no effect.",
      ),
      ticket: text('That of `POST /tickets`: stands for the credentials of the caller who asked for it.'),
    },
    headers: {
      'If-None-Match': { description: 'The ETag of an answer that the client has.', schema: { type: 'string' } },
    },
    responses: {
      200: {
        description: 'The rows.',
        content: {
          'application/json': {
            type: 'object',
            properties: {
              query: { type: 'string', description: 'The statement, or `handle:<handle>`.' },
              columns: { type: 'array', items: columnSchema },
              timestamp: { type: 'integer', description: 'Of a statement.' },
              dataset: { type: 'array', items: { type: 'array' } },
              count: { type: 'integer', description: 'Rows in `dataset`.' },
              ...engineReportSchema,
            },
            required: ['dataset', 'count'],
          },
        },
      },
      304: { description: 'The frame is as `If-None-Match` knows it.', content: {} },
    },
    errors: [
      'unauthenticated',
      'missing_parameter',
      'ambiguous_mode',
      'invalid_parameter',
      'unsupported_format',
      'invalid_limit',
      'too_large',
      'frame_changed',
      ...frameErrors,
      ...sqlErrors,
      ...engineErrors,
      ...tsdbErrors,
    ],
  };
}

const requires: Parameter<string>['parse'] = (value, name) => {
  if (value === undefined) throw new TypeError(`${name} is required`);
  return value;
};
