/** The SQL text of an expression. The engine that uses it checks it again. */
export interface ColumnExpression {
  readonly column: string;
  readonly sql: string;
}

export interface CheckConstraint {
  readonly name?: string | undefined;
  readonly sql: string;
}

export interface TableKey {
  readonly name?: string | undefined;
  readonly columns: readonly string[];
}

export interface ForeignKey extends TableKey {
  /** The name of a frame of the same tenant, which need not be there. */
  readonly table: string;
  /** Undefined: its primary key. */
  readonly references?: readonly string[] | undefined;
}

/** Rules of SQL for the rows of a frame beyond the types of its columns, with the frame's spelling of names. */
export interface TableConstraints {
  /** Those of the primary key are among them. */
  readonly notNull: readonly string[];
  readonly defaults: readonly ColumnExpression[];
  readonly generated: readonly ColumnExpression[];
  readonly checks: readonly CheckConstraint[];
  /** Keys are stored and shown, but not enforced. */
  readonly primaryKey?: TableKey | undefined;
  readonly unique: readonly TableKey[];
  readonly foreignKeys: readonly ForeignKey[];
}
