// Makes the Secrets, the Services, the budget and the policy of the network, in this order, and
// applies again those that differ from how they are rendered. Pure.
import { waitFor } from '../../shared/stateful/decision.ts';
import type { Decision } from './decision.ts';
import type { State } from './state.ts';

export function applyParts({ parts }: Pick<State, 'parts'>): Decision | undefined {
  const { toMake, lacking, wrong, found } = parts;
  if (toMake !== undefined) {
    const { manifest, why } = toMake;
    const next = `${why} Secret ${manifest.metadata.name}`;
    return { step: { type: 'make-secret', secret: toMake }, next };
  }
  if (lacking !== undefined) return waitFor('Write the certificates', [lacking], lacking);
  const [part] = wrong;
  if (part === undefined) return undefined;
  const { kind, metadata } = part.manifest;
  const next = `${found.has(part.key) ? 'Update' : 'Create'} ${kind} ${metadata.name}`;
  return { step: { type: 'apply', part }, next };
}

/** All else is done before it is told. */
export function reportRefusedPolicy({ cluster, parts }: State): Decision | undefined {
  const { policyRefusal } = parts;
  if (policyRefusal === undefined) return undefined;
  return waitFor(`Create NetworkPolicy ${cluster.name}`, [policyRefusal], policyRefusal);
}

/** All else is done before, with those that the members have. */
export function reportRefusedCertificate({ parts: { refused } }: State): Decision | undefined {
  return refused && waitFor('Write the certificates', [refused], refused);
}
