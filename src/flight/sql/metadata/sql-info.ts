import { sqlInfoFunctions } from './sql-info-functions.ts';

/** Members of the union in which GetSqlInfo gives its values, by their type codes. */
export const sqlInfoMember = { string: 0, bool: 1, int64: 2, int32: 3, strings: 4, conversions: 5 } as const;

export interface SqlInfo {
  readonly id: number;
  readonly member: (typeof sqlInfoMember)[keyof typeof sqlInfoMember];
  readonly value: string | boolean | bigint | number | readonly string[] | ReadonlyMap<number, readonly number[]>;
}

export interface ServerFacts {
  readonly version: string;
  readonly statementIdleMs: number;
  /** 0 = no limit. */
  readonly maxConnections: number;
}

const text = (id: number, value: string): SqlInfo => ({ id, member: sqlInfoMember.string, value });
const flag = (id: number, value: boolean): SqlInfo => ({ id, member: sqlInfoMember.bool, value });
/** Limits: 0 is none, or not known. */
const most = (id: number, value: number): SqlInfo => ({ id, member: sqlInfoMember.int64, value: BigInt(value) });
const code = (id: number, value: number): SqlInfo => ({ id, member: sqlInfoMember.int32, value });
const names = (id: number, value: readonly string[]): SqlInfo => ({ id, member: sqlInfoMember.strings, value });

/** One bit for each of these values of an enum. */
const bits = (...values: readonly number[]): number => values.reduce((mask, value) => mask | (1 << value), 0);

const caseInsensitive = 1;
const nullsSortedAtEnd = 3;
const limitedOuterJoins = 1;
const fullOuterJoins = 2;
const noIsolation = 0;
const forwardOnly = 1;
const readOnly = 1;

/**
 * Every value that FlightSql.proto defines: JDBC drivers before 18.3 fail on gaps. Types are those of the proto, except
 * where drivers hold to others: 528 is a set of bits for both JDBC and ODBC, and 562 an int64.
 *
 * Of transactions: the calls exist (8), since ADBC warns on each connection without them, but they promise nothing (11, 562 to 565):
 * each statement is final when it returns.
 */
export function sqlInfos({ version, statementIdleMs, maxConnections }: ServerFacts): readonly SqlInfo[] {
  return [
    text(0, 'Framehold'),
    text(1, version),
    text(2, '1.5'), // Arrow's format, which has versions of its own.
    flag(3, false),
    flag(4, true),
    flag(5, false), // Substrait
    text(6, ''),
    text(7, ''),
    code(8, 1), // BeginTransaction and EndTransaction, no savepoints
    flag(9, true),
    flag(10, true),
    flag(11, false),
    code(100, statementIdleMs),
    code(101, 0),

    flag(500, false), // CREATE and DROP of catalogs,
    flag(501, false), // of schemas,
    flag(502, true), // of tables
    code(503, caseInsensitive),
    text(504, '"'),
    code(505, caseInsensitive),
    flag(506, true),
    code(507, nullsSortedAtEnd),
    ...sqlInfoFunctions.map(({ id, list }) => names(id, list)),
    text(513, '\\'),
    text(514, ''),
    flag(515, true),
    flag(516, true),
    { id: 517, member: sqlInfoMember.conversions, value: conversions() },
    flag(518, true),
    flag(519, false),
    flag(520, true),
    flag(521, true),
    code(522, bits(0, 1)),
    flag(523, true),
    flag(524, false), // frames have no NOT NULL
    code(525, bits(0, 1)),
    code(526, bits(0)),
    flag(527, false),
    code(528, bits(limitedOuterJoins, fullOuterJoins)),
    text(529, 'schema'),
    text(530, 'procedure'),
    text(531, 'catalog'),
    flag(532, true),
    code(533, 0),
    code(534, 0),
    code(535, 0),
    flag(536, false),
    flag(537, false),
    code(538, bits(0, 1, 2, 3)),
    flag(539, true),
    code(540, bits(0, 1)),
    most(541, 0),
    most(542, 0),
    most(543, 0),
    most(544, 0),
    most(545, 0),
    most(546, 0),
    most(547, 0),
    most(548, 0),
    most(549, maxConnections),
    most(550, 0),
    most(551, 0),
    most(552, 0),
    most(553, 0),
    most(554, 0),
    most(555, 0),
    flag(556, true),
    most(557, 0),
    most(558, 0),
    most(559, 128), // a table is a frame, its name a handle
    most(560, 0),
    most(561, 0),
    most(562, noIsolation),
    flag(563, false),
    code(564, bits(noIsolation)),
    flag(565, true),
    flag(566, false),
    code(567, bits(0, forwardOnly)),
    code(568, bits(readOnly)),
    code(569, bits(readOnly)),
    code(570, 0),
    code(571, 0),
    flag(572, true),
    flag(573, false),
    flag(574, false),
    flag(575, false),
    flag(576, false),
  ];
}

/** The conversions of CAST, in the numbers of SqlSupportsConvert. */
function conversions(): ReadonlyMap<number, readonly number[]> {
  const texts = [3, 11, 19];
  const numbers = [0, 2, 5, 6, 7, 12, 13, 14, 17];
  const binaries = [1, 10, 18];
  const [date, time, timestamp] = [4, 15, 16];
  const intervals = [8, 9];
  const all = [...numbers, ...binaries, ...texts, ...intervals, date, time, timestamp];
  const targets = new Map<number, readonly number[]>();
  const add = (from: readonly number[], to: readonly number[]): void => {
    for (const type of from)
      targets.set(
        type,
        [...to, ...texts].sort((a, b) => a - b),
      );
  };
  add(
    texts,
    all.filter((type) => !texts.includes(type)),
  );
  add(numbers, numbers);
  add(binaries, binaries);
  add([date], [date, timestamp]);
  add([time], [time]);
  add([timestamp], [date, time, timestamp]);
  add(intervals, intervals);
  return new Map([...targets].sort(([a], [b]) => a - b));
}
