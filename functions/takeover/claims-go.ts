// The claims of members: the proof that they stay, or the reason against a takeover where they
// would go with what has them. The legacy object is taken off them; of other owners a StatefulSet
// would make itself the owner again, and who the others are only a person knows. Pure.
import type { Reason } from '../../shared/kube/conditions.ts';
import { listed } from '../../shared/stateful/decision.ts';
import type { LegacyEtcd } from './legacy.ts';
import type { FoundClaim, State } from './state.ts';

/** The proof that they stay, as a sentence; empty where pods are bare. */
export const claimsStay = ({ statefulSet }: State): string =>
  statefulSet === undefined
    ? ''
    : ` Claims stay when StatefulSet ${statefulSet.name} (uid ${statefulSet.uid}) goes.`;

/** Owners of whom nobody frees it, as `EtcdPeer old-0`. */
export const heldBy = (
  { owners }: FoundClaim,
  legacy: Pick<LegacyEtcd, 'uid'> | undefined,
): readonly string[] =>
  owners.filter(({ uid }) => uid !== legacy?.uid).map(({ kind, name }) => `${kind} ${name}`);

/** Looked at until the legacy object is deleted, with which all goes that it has. */
export function claimsGo({ takeover, legacy, statefulSet, claims }: State): readonly Reason[] {
  const isHeld = (claim: FoundClaim): boolean => heldBy(claim, legacy).length > 0;
  const { namespace } = takeover;
  if (statefulSet === undefined) return heldClaims(namespace, claims.filter(isHeld), legacy);
  if (statefulSet.keepsClaims && !claims.some((one) => one.isOwned || isHeld(one))) return [];
  const { name } = statefulSet;
  const message =
    `Its claims go with StatefulSet ${name}, as persistentVolumeClaimRetentionPolicy or their ` +
    'owners say, and they are to stay until a person deletes them. Keep them: ' +
    `kubectl -n ${namespace} patch statefulset ${name} --type=merge -p ` +
    `'{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Retain"}}}'`;
  return [{ reason: 'ClaimsGo', message }];
}

function heldClaims(
  namespace: string,
  held: readonly FoundClaim[],
  legacy: LegacyEtcd | undefined,
): readonly Reason[] {
  const staying = held.filter(({ isEnding }) => !isEnding);
  if (staying.length === 0) return [];
  const told = staying.map((one) => `${one.name} with ${listed(heldBy(one, legacy))}`);
  const message =
    `Claims go with what has them, and they are to stay until a person deletes them: ` +
    `${listed(told)}. Take the owners off each: kubectl -n ${namespace} patch ` +
    `persistentvolumeclaim NAME --type=merge -p '{"metadata":{"ownerReferences":null}}'`;
  return [{ reason: 'ClaimsGo', message }];
}

/** A claim beyond those that are told of would go with its owner. */
export const refuseUncounted = ({ legacy, isCut }: State): readonly Reason[] =>
  legacy !== undefined && isCut ? [tooMany(legacy)] : [];

export const tooMany = ({ name, label }: LegacyEtcd): Reason => ({
  reason: 'TooMany',
  message:
    `More pods or claims have the label ${label}: ${name}, or belong to it, than any operator ` +
    'makes. Take it off those that are not of this cluster.',
});
