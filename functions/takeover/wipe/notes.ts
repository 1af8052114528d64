// Things to know of a takeover that gives the data up: what is lost, what could still be kept, and
// which clients are cut off. Pure.
import type { Reason } from '../../../shared/kube/conditions.ts';
import { joined, listed } from '../../../shared/stateful/decision.ts';
import { answersOf } from '../answers.ts';
import { directClients } from '../direct-clients.ts';
import { isQuorate } from '../frozen.ts';
import type { LegacyEtcd } from '../legacy.ts';
import { refuseSecrets } from '../refuse-secrets.ts';
import { refuseCertificates } from '../refuse-target.ts';
import type { State } from '../state.ts';
import { refuseUncertified } from './refuse.ts';

export const notesToWipe = (state: State, legacy: LegacyEtcd): readonly Reason[] => [
  dataLost(state, legacy),
  ...couldBeKept(state),
  ...cutOff(state),
  directClients(legacy, 'not led over, and cut off when these pods go'),
];

function dataLost({ takeover, claims, pods }: State, { name }: LegacyEtcd): Reason {
  const { into } = takeover.spec;
  const kept =
    claims.length === 0
      ? 'No claim of it is there, so that nothing is kept.'
      : `Kept, without an owner, until a person deletes them: claims ` +
        `${listed(claims.map((claim) => claim.name))}.`;
  const going = pods.filter(({ claim }) => claim === undefined).map((pod) => pod.name);
  const gone =
    going.length === 0
      ? ''
      : ` What ${listed(going)} has in an emptyDir goes with the pod, and nothing brings it back.`;
  const message =
    `EtcdCluster ${into.name} is born empty: no key, lease, user or role of ${name} will be in ` +
    `it, nor what is written to ${name} until its pods are gone. ${kept}${gone}`;
  return { reason: 'DataLost', message };
}

function couldBeKept(state: State): readonly Reason[] {
  const answering = answersOf(state).map(({ pod }) => pod);
  if (answering.length === 0) return [];
  const message = isQuorate(state)
    ? 'A quorum of the old members answers. Write spec.mode: Restore, and all keys are brought ' +
      'over while writers wait; or Join, where nobody waits. Go on with Wipe only if nobody ' +
      'needs the data.'
    : `${listed(answering)} answers, without a quorum. Back it up first (npm run backup), ` +
      'unless nobody needs the data: an EtcdRestore makes an EtcdCluster of that.';
  return [{ reason: 'DataCouldBeKept', message }];
}

/** Whom the new members are to trust, and be trusted by, a person has said. */
function cutOff(state: State): readonly Reason[] {
  const against = new Set(refuseUncertified(state).map(({ message }) => message));
  const found = [...refuseSecrets(state), ...refuseCertificates(state)];
  const others = found.filter(({ message }) => !against.has(message));
  if (others.length === 0) return [];
  const message = `Clients may be cut off until they have other certificates. ${joined(others)}`;
  return [{ reason: 'ClientsCutOff', message }];
}
