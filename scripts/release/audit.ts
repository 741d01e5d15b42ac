/** The JSON of `npm audit --json`: a report, or the registry's refusal. */
interface AuditAnswer {
  readonly vulnerabilities?: Readonly<Record<string, { readonly name: string; readonly severity: string }>>;
  readonly message?: string;
  readonly error?: { readonly summary?: string };
}

export interface AuditFindings {
  /** Packages that users of ours have. */
  readonly shipped: readonly string[];
  /** Packages that only build or test. */
  readonly tools: readonly string[];
}

/** Throws where the registry gives no report. */
export function auditFindings(json: string, shippedNames: ReadonlySet<string>): AuditFindings {
  const answer = parseAnswer(json);
  const { vulnerabilities } = answer;
  if (vulnerabilities === undefined) {
    const why = answer.message || answer.error?.summary || 'it gives no report';
    throw new Error(
      `the registry does not audit (${why}); release where it does, or pass --skip-audit after an audit elsewhere`,
    );
  }
  const found = Object.values(vulnerabilities);
  const describe = ({ name, severity }: { name: string; severity: string }): string => `${name} (${severity})`;
  return {
    shipped: found.filter(({ name }) => shippedNames.has(name)).map(describe),
    tools: found.filter(({ name }) => !shippedNames.has(name)).map(describe),
  };
}

function parseAnswer(json: string): AuditAnswer {
  try {
    return JSON.parse(json) as AuditAnswer;
  } catch {
    return { message: json.trim().split('\n')[0] ?? '' };
  }
}
