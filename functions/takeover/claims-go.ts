// The reason against a takeover of members in a StatefulSet with which their claims would go: its
// controller would make it their owner again, whoever takes it off. Pure.
import type { Reason } from '../../shared/kube/conditions.ts';
import type { State } from './state.ts';

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
