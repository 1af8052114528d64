// Requests of an account that its role does not cover or that were refused, and rights that it
// never used.
import { covers, grantsIn, told } from './grants.ts';
import type { AuditedRequest } from './installed.ts';
import { RARE } from './rare-rights.ts';

export interface Misfits {
  readonly lacking: readonly string[];
  readonly refused: readonly string[];
  readonly unused: readonly string[];
}

export const NONE: Misfits = { lacking: [], refused: [], unused: [] };

/** The API server lets every known account ask what it may do itself. */
const EVERYBODYS: ReadonlySet<string> = new Set(['selfsubjectaccessreviews']);

interface Used {
  readonly account: string;
  readonly requests: readonly AuditedRequest[];
  /** All that was applied, roles among it. */
  readonly objects: Parameters<typeof grantsIn>[0];
  /** Requests before it may have been refused. */
  readonly grantedAtMs: number;
}

export function misfitsOf({ account, requests: all, objects, grantedAtMs }: Used): Misfits {
  const requests = all.filter(
    (one) => one.account === account && (one.isAllowed || one.receivedMs >= grantedAtMs),
  );
  const grants = grantsIn(objects).filter((grant) => grant.account === account);
  const isOfResource = ({ resource }: AuditedRequest): boolean =>
    !resource.startsWith('/') && !EVERYBODYS.has(resource);
  const lacking = requests.filter(
    (one) => isOfResource(one) && !grants.some((grant) => covers(grant, one)),
  );
  const refused = requests.filter(({ isAllowed }) => !isAllowed);
  const unused = grants
    .filter((grant) => !requests.some((one) => covers(grant, one)))
    .map(told)
    .filter((right) => RARE[right] === undefined);
  // Knative's controller asks for get, list and watch before it starts an adapter, which watches.
  const isSource = account.endsWith('-source');
  return {
    lacking: [...new Set(lacking.map(told))],
    refused: [...new Set(refused.map(told))],
    unused: isSource ? unused.filter((right) => right.includes(': watch ')) : unused,
  };
}
