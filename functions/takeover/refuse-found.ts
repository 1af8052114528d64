// Reasons against a takeover of whatever kind: the legacy object, its Services, its operator, and
// names and Takeovers that are in the way. Each is a sentence that says what to do. Pure.
import type { Reason } from '../../shared/kube/conditions.ts';
import { listed } from '../../shared/stateful/decision.ts';
import { misnamedOperator } from './grant.ts';
import { intoKindOf } from './object.ts';
import type { FoundService, Seen } from './state.ts';

interface SeenLegacy extends Seen {
  readonly legacy: { readonly isEnding: boolean } | undefined;
}

/** `lastChance`: what is left to do for one that is being deleted. */
export function refuseMissing(
  { takeover, isKindKnown, legacy }: SeenLegacy,
  lastChance: string,
): readonly Reason[] {
  const { namespace, spec } = takeover;
  const { kind, name, apiVersion } = spec.legacy;
  const what = `${kind} ${namespace}/${name} of ${apiVersion}`;
  if (!isKindKnown) {
    const message =
      `The API server knows no ${kind} of ${apiVersion}, so there is ` +
      `nothing to take over. Delete this Takeover.`;
    return [{ reason: 'KindMissing', message }];
  }
  if (legacy === undefined) {
    const message =
      `There is no ${what}. Create a Takeover with the name that it has: ` +
      `npm run takeover lists all.`;
    return [{ reason: 'LegacyMissing', message }];
  }
  if (!legacy.isEnding) return [];
  return [{ reason: 'LegacyEnding', message: `${what} is being deleted, and ${lastChance}` }];
}

export interface Serving {
  /** The label that leads to what the operator made. */
  readonly label: string;
  /** All by which the operator had it select. */
  readonly labels: Readonly<Record<string, string>>;
  readonly services: readonly (readonly [string, FoundService | undefined])[];
}

/** The Service that clients know has to lead to them still: it is what is switched. */
export const refuseServices = (
  { takeover }: Seen,
  { services, ...how }: Serving,
): readonly Reason[] =>
  services.flatMap(([name, service]) => judged(takeover, { ...how, name }, service));

function judged(
  { namespace, spec: { legacy } }: Seen['takeover'],
  { label, labels, name }: Omit<Serving, 'services'> & { readonly name: string },
  service: FoundService | undefined,
): readonly Reason[] {
  const { kind, name: of } = legacy;
  const which = `Service ${namespace}/${name}`;
  if (service === undefined) {
    const selector = Object.entries(labels)
      .map((pair) => pair.join(': '))
      .join(', ');
    const message =
      `There is no ${which}, by which clients or its own pods know it. Make it anew with ` +
      `the selector ${selector}.`;
    return [{ reason: 'ServiceMissing', message }];
  }
  if (!service.isOwned) {
    const message =
      `${which} is there and does not belong to ${kind} ${of}: somebody took the name, or made ` +
      `it anew. If it is to be switched, give it an ownerReference to the ${kind} (uid as in its ` +
      'metadata); if not, give it another name.';
    return [{ reason: 'ServiceTaken', message }];
  }
  if (service.selector[label] === of) return [];
  const message =
    `${which} does not lead to its pods: its selector has no ${label}: ${of}. Give it back ` +
    'its selector, so that it is known where clients are.';
  return [{ reason: 'ServiceRedirected', message }];
}

/** Told once nothing else is: what lacks a grant others tell with the line that grants it. */
export const orLead = ({ leadRefused }: Seen, others: readonly Reason[]): readonly Reason[] =>
  leadRefused === undefined || others.length > 0 ? others : [leadRefused];

/** An operator that looks after it would fight a takeover. `grant`: the line that grants it. */
export function refuseOperator(
  { takeover, operators, isOperatorForbidden }: Seen,
  grant: string,
): readonly Reason[] {
  const { operator } = takeover.spec.legacy;
  if (operator === undefined) return [];
  const misnamed = misnamedOperator(takeover);
  if (misnamed.length > 0) return misnamed;
  if (isOperatorForbidden) {
    const where = `${operator.namespace}/${operator.name}`;
    const message = `The function may not look at Deployment ${where}. Grant it that: ${grant}`;
    return [{ reason: 'OperatorForbidden', message }];
  }
  if (operators.length > 0) return [];
  const message =
    `There is no Deployment ${operator.namespace}/${operator.name}, which spec.legacy.operator ` +
    'names. If the operator is gone, create a Takeover without that field.';
  return [{ reason: 'OperatorMissing', message }];
}

export function refuseNames({ takeover, taken }: Seen): readonly Reason[] {
  if (taken.length === 0) return [];
  const { namespace, spec } = takeover;
  const message =
    `A takeover makes a new ${intoKindOf(spec.legacy)}, and of ${namespace}/${spec.into.name} ` +
    `there is already: ${listed(taken)}. Write another name in spec.into.name, or delete these ` +
    'if nobody needs them.';
  return [{ reason: 'NameTaken', message }];
}

/** Two that take the same over would undo each other. */
export function refuseOthers({ takeover, others }: Seen): readonly Reason[] {
  const { namespace, spec } = takeover;
  if (others.length === 0) return [];
  const message =
    `Takeover ${listed(others)} of ${namespace}/${spec.legacy.name} is older, and has it until ` +
    'it is over. Delete this one, or that one if nothing of it was begun.';
  return [{ reason: 'OtherTakeover', message }];
}
