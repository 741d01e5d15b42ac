export interface ServerInfo {
  readonly name: string;
  readonly version: string;
  /** `tls` is not told by servers that have none. */
  readonly grpc: { readonly host: string; readonly port: number; readonly tls?: boolean };
  readonly engines: readonly string[];
  readonly default_engine: string;
}

/** An engine as `/engines` tells of it. */
export interface ServerEngine {
  readonly name: string;
  readonly kind: string;
  readonly state: string;
  readonly version: string | null;
  /** Statements that were given up and that it has not stopped yet. */
  readonly unstopped?: number;
  readonly problem?: string;
  readonly default: boolean;
  readonly auto: boolean;
}

/** The caller as `/whoami` tells of it. */
export interface Identity {
  readonly tenant: string;
  readonly name: string;
  readonly role: string;
  readonly prefix: string | null;
  readonly credential: string;
  readonly expires: string | null;
}

/** A token as `/tokens` tells of it. */
export interface ServerToken {
  readonly id: string;
  readonly name: string;
  readonly tenant: string | null;
  readonly role: string;
  readonly prefix: string | null;
  readonly created: string;
  readonly expires: string | null;
  /** The day. */
  readonly last_used: string | null;
}

export interface TokenRequest {
  readonly name: string;
  readonly role: string;
  /** A duration. Undefined: for ever. */
  readonly expires?: string | undefined;
  readonly prefix?: string | undefined;
  /** Undefined: the caller's own. */
  readonly tenant?: string | undefined;
}

/** A tenant as `/tenants` tells of it. */
export interface ServerTenant {
  readonly name: string;
  readonly created: string | null;
  readonly max_frames: number | null;
  readonly max_bytes: number | null;
  readonly max_rate: number | null;
  readonly max_statements: number | null;
  /** Null: all. */
  readonly engines: readonly string[] | null;
}

/** What is left out stays; null removes a limit. */
export type TenantChange = Partial<Omit<ServerTenant, 'name' | 'created' | 'engines'>> & {
  readonly engines?: readonly string[];
};

/** A statement as `/queries` tells of it. */
export interface ServerQuery {
  readonly id: string;
  readonly engine: string;
  readonly sql: string;
  readonly started: string;
  readonly elapsed_ms: number;
  readonly progress: {
    readonly tasks: number;
    readonly completed_tasks: number;
    readonly running_tasks: number;
    readonly bytes_read: number;
  } | null;
}

export interface ColumnInfo {
  readonly name: string;
  readonly type: string;
  readonly elemType?: string;
}

/** A frame as `/handles` tells of it. What is not known of a damaged one is null. */
export interface HeldFrame {
  readonly handle: string;
  /** Older servers do not tell it: they have no views. */
  readonly kind?: 'frame' | 'view';
  readonly state: string;
  readonly version: number;
  readonly rows: number | null;
  readonly columns: readonly ColumnInfo[] | null;
  readonly bytes: { readonly cold: number; readonly hot: number };
  readonly created: string | null;
  readonly expires: string | null;
  readonly damaged?: string | null;
}

export interface ImportOptions {
  readonly handle: string | undefined;
  readonly mode: 'create' | 'append' | 'overwrite';
  readonly ttl?: string | undefined;
  readonly format?: string | undefined;
  readonly delimiter?: string | undefined;
  readonly hasNoHeader?: boolean | undefined;
  /** Leaves out the rows that cannot be read, instead of refusing the whole. */
  readonly skipBadRows?: boolean | undefined;
  /** Where it is known beforehand. */
  readonly totalBytes?: number | undefined;
}

export interface ImportAnswer {
  readonly handle: string;
  readonly version: number;
  readonly rowsImported: number;
  readonly rowsRejected: number;
  /** The first of them. */
  readonly rejections: readonly { readonly line: number; readonly column: string | null; readonly reason: string }[];
  readonly columns: readonly ColumnInfo[];
  /** As stored. */
  readonly bytes: number;
}

export interface SqlOptions {
  readonly sql: string;
  /** Undefined: the one that knows the frames. */
  readonly engine: string | undefined;
  readonly format: string;
  readonly limit?: number | undefined;
  readonly params?: readonly string[] | undefined;
  readonly settings?: Readonly<Record<string, string>> | undefined;
  /** By which `queries` tells it. */
  readonly id?: string | undefined;
}

export interface RowsRequest {
  readonly handle: string;
  readonly from: number | 'end';
  /** That of the rows before. */
  readonly lineage: string | undefined;
  readonly columns: readonly string[] | undefined;
  readonly where: string | undefined;
  readonly format: string;
  readonly hasNames: boolean;
}

export interface NextRows {
  readonly bytes: Buffer;
  /** The number of the row behind them. */
  readonly next: number;
  readonly lineage: string;
}
