import { type Column, type DataType, sqlName, sqlString, sqlTypeName } from '@framehold/columns';
import { AppError } from '../../../../../core/errors/app-error.ts';

export type NestedType = Extract<DataType, { kind: 'list' | 'array' | 'struct' | 'map' | 'union' }>;

/**
 * The value of a JSON text in SQL; NULL if any part of it does not fit. DuckDB's own cast would make such parts NULL,
 * round them or drop them, so it only splits the text here, level by level, and `scalarValue` converts the inner
 * values as it does outer ones.
 */
export function nestedValue(
  type: NestedType,
  text: string,
  scalarValue: (type: DataType, text: string) => string,
): string {
  const mark = holdsJson(type) ? numberMark : '';
  const unmarked = (marked: string): string => (mark === '' ? marked : `replace(${marked}, '${mark}', '')`);

  /** The value of `partType`; JSON's null is NULL by then. `depth` makes names of different levels distinct. */
  function partValue(type: DataType, part: string, depth: number): string {
    if (depth > mostLevels) throw tooDeep();
    switch (type.kind) {
      case 'list':
        return listValue(type.element, part, depth);
      case 'struct':
        return structValue(type.fields, part, depth);
      case 'map':
        return mapValue(type, part, depth);
      case 'json':
        return `CAST(regexp_replace(${part}, '"${mark}([^"]*)"', '\\1', 'g') AS JSON)`;
      case 'utf8':
        return `CASE WHEN json_type(${part}) NOT IN ('ARRAY', 'OBJECT') THEN ${unmarked(`json_extract_string(${part}, '$')`)} END`;
      case 'array':
      case 'union':
        // No frame holds one.
        return `CAST(NULL AS ${sqlTypeName(type)})`;
      default:
        return scalarValue(type, unmarked(part));
    }
  }

  function listValue(element: DataType, json: string, depth: number): string {
    const [part, values] = [`part${depth}`, `values${depth}`];
    const parts = `TRY_CAST(${json} AS ${partType(element)}[])`;
    const converted = `list_transform(${parts}, lambda ${part}: ${partValue(element, part, depth + 1)})`;
    return named(values, converted, `CASE WHEN list_count(${parts}) = list_count(${values}) THEN ${values} END`);
  }

  function structValue(fields: readonly Column[], json: string, depth: number): string {
    const [parts, values] = [`parts${depth}`, `values${depth}`];
    const field = (of: string, index: number): string => `struct_extract_at(${of}, ${index + 1})`;
    const items = fields.map(
      ({ name, type }, index) => `${sqlString(name)}: ${partValue(type, field(parts, index), depth + 1)}`,
    );
    const fit = fields.map((_, index) => `(${field(parts, index)} IS NULL) = (${field(values, index)} IS NULL)`);
    const checked = `CASE WHEN ${parts} IS NOT NULL AND ${fit.join(' AND ')} THEN ${values} END`;
    return named(parts, structParts(fields, json), named(values, `{${items.join(', ')}}`, checked));
  }

  /** An object, or entries as we write them where keys are no texts. */
  function mapValue({ key, value }: Extract<DataType, { kind: 'map' }>, json: string, depth: number): string {
    const entry = [
      { name: 'key', type: key },
      { name: 'value', type: value },
    ];
    const ofObject = `to_json(map_entries(TRY_CAST(${json} AS MAP(VARCHAR, JSON))))`;
    const entries = `CASE json_type(${json}) WHEN 'OBJECT' THEN ${ofObject} ELSE ${json} END`;
    // Keys that repeat or are missing are an error.
    return `TRY(map_from_entries(${listValue({ kind: 'struct', fields: entry }, entries, depth)}))`;
  }

  const json = 'json';
  return named(json, markedJson(text, mark), partValue(type, json, 0));
}

/** DuckDB's time to plan doubles with every lambda around another: about half a second here. */
const mostLevels = 16;

function tooDeep(): AppError {
  return new AppError('unsupported_type', `text cannot be read as a type of more than ${mostLevels} levels`, {
    hint: 'send Parquet or Arrow',
  });
}

/**
 * A mark before numbers where JSON is kept as JSON, to distinguish them from strings. It is a noncharacter, and a text
 * that holds it is refused.
 */
const numberMark = '\ufdd0';

function holdsJson(type: DataType): boolean {
  return JSON.stringify(type).includes('{"kind":"json"}');
}

/** The JSON with its numbers as strings: DuckDB would read them as DOUBLE, and digits be lost. */
function markedJson(text: string, mark: string): string {
  const string = '"(?:[^"\\\\]|\\\\.)*"';
  const others = `((?:${string}|[^"0-9-]|-[^"0-9])*)`;
  const number = '(-?[0-9][-+.eE0-9]*)';
  // At the end there is no number, but its quotes and mark are written.
  const marked = `left(regexp_replace(${text}, '${others}(?:${number}|$)', '\\1"${mark}\\2"', 'g'), -${2 + mark.length})`;
  const isUnmarked = mark === '' ? '' : ` AND NOT contains(CAST(json(${text}) AS VARCHAR), '${mark}')`;
  return `CASE WHEN json_valid(${text})${isUnmarked} THEN TRY_CAST(${marked} AS JSON) END`;
}

/** DuckDB's type for a part. As VARCHAR, an array or an object is its JSON, which no other scalar looks like. */
function partType({ kind }: DataType): 'JSON' | 'VARCHAR' {
  return ['list', 'array', 'struct', 'map', 'union', 'json', 'utf8'].includes(kind) ? 'JSON' : 'VARCHAR';
}

/** NULL unless every key is a field's, and none occurs twice. A missing one is NULL, as in rows. */
function structParts(fields: readonly Column[], json: string): string {
  const parts = fields.map(({ name, type }) => `${sqlName(name)} ${partType(type)}`);
  const names = fields.map(({ name }) => sqlString(name));
  const known = `list_intersect(json_keys(${json}), [${names.join(', ')}])`;
  const isKnown = `json_type(${json}) = 'OBJECT' AND len(json_keys(${json})) = len(${known})`;
  return `CASE WHEN ${isKnown} THEN TRY_CAST(${json} AS STRUCT(${parts.join(', ')})) END`;
}

/** An expression with a name for a value, which is then computed only once. */
function named(name: string, value: string, expression: string): string {
  return `list_transform([${value}], lambda ${name}: ${expression})[1]`;
}
