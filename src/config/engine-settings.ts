import { maskConnectUrl, parseConnectUrl } from '@framehold/spark-connect';
import { maskCredentials } from './http-url.ts';
import { type NamedSetting, required, type ValuesOf } from './setting.ts';
import * as type from './setting-type.ts';

const sparkUrl: type.SettingType<string> = {
  placeholder: 'url',
  accepts: "a URL in PySpark's form, such as sc://host:15002 or sc://host:15002/;token=…;use_ssl=true",
  unit: 'URL',
  toml: ['string'],
  parse: (text) => {
    parseConnectUrl(text);
    return text;
  },
};

const clusterPath: type.SettingType<string> = {
  placeholder: 'path',
  accepts: 'an absolute path, or a URI such as file:///shared/cold, hdfs://name/cold or s3a://bucket/cold',
  unit: 'path or URI',
  toml: ['string'],
  parse: (text) => (/^(\/|[a-z][a-z0-9+.-]*:\/)[^\0\r\n]*$/i.test(text) ? text : undefined),
};

/** The settings of an engine of other machines: every key of `[engines.<name>]`. */
export const engineSettings = {
  kind: {
    property: 'kind',
    type: type.choice(['spark-connect']),
    default: required,
    example: 'spark-connect',
    help: 'What it speaks: Spark Connect, as Apache Spark and Sail do',
  },
  url: {
    property: 'url',
    type: sparkUrl,
    default: required,
    example: 'sc://spark.example.com:15002/;token=secret;use_ssl=true',
    help: "Where it listens, in PySpark's form; a token in it is never shown or logged",
    mask: maskConnectUrl,
  },
  path_map: {
    property: 'pathMap',
    type: clusterPath,
    default: undefined,
    example: 's3a://bucket/cold',
    help: 'How the cluster sees `storage.parquet_path`; unset, as the same path of a shared file system (`file:`)',
    mask: maskCredentials,
  },
  connect_timeout: {
    property: 'connectTimeoutMs',
    type: type.timeout,
    default: '5s',
    example: '5s',
    help: 'Time to connect to it',
  },
  query_timeout: {
    property: 'queryTimeoutMs',
    type: type.timeout,
    default: '10m',
    example: '10m',
    help: 'Time that a statement may run there',
  },
  max_concurrent: {
    property: 'maxConcurrent',
    type: type.integer({ min: 1, max: 10_000, unit: 'statements' }),
    default: '16',
    example: '16',
    help: 'Statements that run there at once; others wait for their turn',
  },
  max_result: {
    property: 'maxResultBytes',
    type: type.bytes,
    default: '10GB',
    example: '10GB',
    help: 'Largest result that it may send; larger ones are kept as a frame (`keep`, CREATE TABLE … AS)',
  },
} as const satisfies Record<string, NamedSetting>;

/** An engine of other machines, as the operator describes it. */
export type EngineConfig = ValuesOf<typeof engineSettings>;
