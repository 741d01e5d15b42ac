import type { CertificateConfig, IssuerConfig } from './auth-settings.ts';
import type { EngineConfig } from './engine-settings.ts';
import type { SettingType } from './setting-type.ts';
import type { settings } from './settings.ts';

type Table = typeof settings;
type DefaultText<D> = D extends { text(context: never): infer Text } ? Text : D;
type ValueOf<S> = S extends { type: SettingType<infer Value>; default: infer D }
  ? Value | (undefined extends DefaultText<D> ? undefined : never)
  : never;

/** The settings as the server takes them: parsed, complete, frozen. */
export type Config = {
  readonly [Section in keyof Table]: {
    readonly [Key in keyof Table[Section] as Table[Section][Key] extends { property: infer Name extends string }
      ? Name
      : never]: ValueOf<Table[Section][Key]>;
  };
} & {
  readonly auth: {
    /** The accepted issuers of JWTs, by the operator's names. */
    readonly issuers: ReadonlyMap<string, IssuerConfig>;
    /** The callers of client certificates. */
    readonly certificates: ReadonlyMap<string, CertificateConfig>;
  };
  /** Engines of other machines, by the names that the operator gave them. */
  readonly engines: ReadonlyMap<string, EngineConfig>;
  /** The file of Node's own variable NODE_EXTRA_CA_CERTS: certificates to trust beside the system's, as PEM. */
  readonly extraCertificatesFile: string | undefined;
};
