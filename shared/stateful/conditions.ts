// Conditions that objects with servers have in common. None says True for what nobody has seen.
// Pure.
import type { ConditionInput, Reason } from '../kube/conditions.ts';
import type { KubeObject } from '../kube/objects.ts';
import type { Decision } from './decision.ts';

/** After so long without any answer, the last known state is no longer reported as true. */
const CONTACT_MAX_MS = 60_000;
/** An object or a server this young is still being made: what is missing is on its way. */
export const YOUNG_MS = 600_000;

export const condition = (
  type: string,
  status: ConditionInput['status'],
  reason: Reason,
): ConditionInput => ({ type, status, ...reason });

export const NOT_DEGRADED: ConditionInput = condition('Degraded', 'False', {
  reason: 'NotDegraded',
  message: 'Nothing needs a person.',
});

export function progressing({ next, step, waitsFor, trouble }: Decision<unknown>): ConditionInput {
  if (trouble !== undefined) {
    const message = `${next === 'Nothing' ? 'It' : `${next}: this`} needs a person; see Degraded.`;
    return condition('Progressing', 'False', { reason: trouble.reason, message });
  }
  if (next === 'Nothing' && step === undefined) {
    const settled = { reason: 'Settled', message: 'Nothing is being changed.' };
    return condition('Progressing', 'False', waitsFor?.reason === 'Paused' ? waitsFor : settled);
  }
  const waits = waitsFor === undefined ? '' : ` It waits (${waitsFor.reason}).`;
  return condition('Progressing', 'True', { reason: 'Changing', message: `${next}.${waits}` });
}

/** Set when all servers are silent for too long to say anything of them. */
export function noContact(
  servers: readonly { readonly lastContact?: string }[],
  nowMs: number,
  server: string,
): Reason | undefined {
  const times = servers.flatMap(({ lastContact }) => lastContact ?? []).toSorted();
  const newest = times.at(-1);
  if (newest === undefined || nowMs - Date.parse(newest) <= CONTACT_MAX_MS) return undefined;
  return { reason: 'NoContact', message: `No ${server} has answered since ${newest}.` };
}

export function isYoung({ metadata: { creationTimestamp = '' } }: KubeObject, nowMs: number) {
  return nowMs - Date.parse(creationTimestamp) < YOUNG_MS;
}
