// The claims of members in a StatefulSet: the proof that they stay, or the reason against a
// takeover where they would go with it. Its controller would make it their owner again, whoever
// takes it off. Pure.
import type { Reason } from '../../shared/kube/conditions.ts';
import type { State } from './state.ts';

/** The proof that they stay, as a sentence; empty where pods are bare. */
export const claimsStay = ({ statefulSet }: State): string =>
  statefulSet === undefined
    ? ''
    : ` Claims stay when StatefulSet ${statefulSet.name} (uid ${statefulSet.uid}) goes.`;

/** Looked at until the legacy object is deleted, with which the StatefulSet goes. */
export function claimsGo({ statefulSet, claims }: State): readonly Reason[] {
  if (statefulSet === undefined) return [];
  if (statefulSet.keepsClaims && !claims.some(({ isOwned }) => isOwned)) return [];
  const { name } = statefulSet;
  const message =
    `Its claims go with StatefulSet ${name}, as persistentVolumeClaimRetentionPolicy or their ` +
    'owners say, and they are to stay until a person deletes them. Keep them: kubectl patch ' +
    `statefulset ${name} --type=merge -p '{"spec":{"persistentVolumeClaimRetentionPolicy":` +
    '{"whenDeleted":"Retain"}}}\'';
  return [{ reason: 'ClaimsGo', message }];
}
