import type { Scenario } from '../harness/scenario.ts';
import { auditedChanges } from './audited-changes.ts';
import { certificateReload } from './certificate-reload.ts';
import { failedLogins } from './failed-logins.ts';
import { issuerOutage } from './issuer-outage.ts';
import { probing } from './probing.ts';
import { quotaRaces } from './quota-races.ts';
import { revocation } from './revocation.ts';

/** Who may come in: other tenants, credentials that end, issuers that fail. */
export const accessScenarios: readonly Scenario[] = [
  probing,
  revocation,
  certificateReload,
  issuerOutage,
  quotaRaces,
  failedLogins,
  auditedChanges,
];
