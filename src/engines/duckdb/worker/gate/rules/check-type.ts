import { AppError } from '../../../../../core/errors/app-error.ts';
import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import { didYouMean } from '../../../../../core/text/did-you-mean.ts';
import type { TokenizedText } from '../../../../../core/text/tokens.ts';
import type { TreeNode } from '../tree/parse-tree.ts';
import { typePosition } from '../tree/type-position.ts';

/** Ids of DuckDB's types, as its parse tree names them, that a cast may go to. */
const allowedTypes: ReadonlySet<string> = new Set(
  `NULL BOOLEAN TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT FLOAT DOUBLE DECIMAL
  BIGNUM VARIANT GEOMETRY CHAR VARCHAR BLOB BIT UUID DATE TIME TIME_NS INTERVAL LIST ARRAY STRUCT MAP UNION ENUM`
    .split(/\s+/)
    .concat([
      'TIME WITH TIME ZONE',
      'TIMESTAMP',
      'TIMESTAMP_S',
      'TIMESTAMP_MS',
      'TIMESTAMP_NS',
      'TIMESTAMP WITH TIME ZONE',
    ]),
);

/** Types that DuckDB's parser leaves to be looked up by name. */
export const allowedTypeNames: ReadonlySet<string> = new Set(['json', 'enum', 'geometry']);

/** Allowed type names, for suggestions: of several equally near names the first is suggested. */
export const suggestedTypeNames: readonly string[] =
  `int integer bigint double varchar text string boolean bool date time timestamp timestamptz decimal numeric float real
  smallint tinyint hugeint uinteger ubigint usmallint utinyint uhugeint uuid blob json interval timestamp_s timestamp_ms
  timestamp_us timestamp_ns time_ns timetz datetime char bytea binary varbinary bit bitstring long short int8 int16 int32
  int64 int128 uint8 uint16 uint32 uint64 uint128 float4 float8 struct map union enum bignum variant geometry`.split(
    /\s+/,
  );

/** Refuses a type in the parse tree of a query that frames cannot hold or that endangers the engine. */
export function checkType(type: TreeNode, text: TokenizedText): void {
  const id = String(type.id);
  const alias = aliasOf(type);
  if (allowedTypes.has(id) && (alias === undefined || allowedTypeNames.has(asciiLower(alias)))) return;
  const name = id === 'UNBOUND' || id === 'USER' ? nameIn(type) : (alias ?? id);
  if (id !== name && allowedTypeNames.has(asciiLower(name))) return;
  const position = typePosition(text, name);
  const shown = name.slice(0, 100);
  throw new AppError('sql_error', `type ${shown} does not exist${didYouMean(name, suggestedTypeNames)}`, { position });
}

/** A type such as JSON is another type with a name of its own. */
function aliasOf(type: TreeNode): string | undefined {
  const alias = (type.type_info as TreeNode | undefined)?.alias;
  return typeof alias === 'string' ? alias : undefined;
}

function nameIn(type: TreeNode): string {
  const info = type.type_info as TreeNode | undefined;
  return String(info?.name ?? info?.user_type_name ?? 'of this name');
}
