// Leads clients over, and lets go what is left of the old cluster: the Service, then the claims,
// one by one, and the legacy object at last. Pure.
import { ETCD_CLUSTER_LABEL } from '../../shared/api/etcd-cluster.ts';
import type { TakeoverWork } from '../../shared/api/takeover.ts';
import { type Decision as DecisionOf, waitFor } from '../../shared/stateful/decision.ts';
import { answersOf } from './answers.ts';
import type { CommonStep, Decision, Step } from './decision.ts';
import { isQuorate } from './frozen.ts';
import type { Takeover } from './object.ts';
import { type Records, selectorText } from './records.ts';
import type { Stage } from './stages.ts';
import type { FoundClaim, FoundCluster, State } from './state.ts';
import { stopOperators, stoppedOperators } from './stop-operators.ts';
import { hasWayBack, withoutWayBack, withWayBack } from './way-back.ts';

/** It selects the new pods, and no old one. */
export const newSelectorOf = ({
  spec,
}: Pick<Takeover, 'spec'>): Readonly<Record<string, string>> => ({
  [ETCD_CLUSTER_LABEL]: spec.into.name,
});

/** Clients are led to the new cluster, and the Service does not go with the legacy object. */
export function isSwitched({ takeover, client }: State): boolean {
  if (client === undefined || client.isOwned) return false;
  return selectorText(client.selector) === selectorText(newSelectorOf(takeover));
}

/** Noted before it is done: from then on nothing leads back. */
export function switchService(state: State, { work, steps }: Records): Decision {
  const { client, leadRefused, nowMs } = state;
  const { name } = work.service;
  const next = `Lead Service ${name} to the new cluster`;
  if (leadRefused !== undefined) return waitFor(next, [leadRefused], leadRefused);
  if (client === undefined) {
    return waitFor(next, [{ reason: 'ServiceMissing', message: `Service ${name} is gone.` }]);
  }
  if (!hasWayBack(work)) return { step: { type: 'switch-service', service: client }, next };
  const { resourceVersion: serviceVersion } = client;
  const noted = { work: { ...withoutWayBack(work, nowMs), serviceVersion }, steps };
  return { step: { type: 'write-records', records: noted }, next: 'Lead clients over' };
}

/**
 * Nobody is led over, and a person is needed: writers are not to wait for that, with no way back.
 */
export function orWayBack<Own>(
  decision: DecisionOf<Own>,
  { client }: State,
  { work, steps }: Records,
): DecisionOf<Own | CommonStep> {
  const { service, serviceVersion } = work;
  const isAsNoted = client?.uid === service.uid && client.resourceVersion === serviceVersion;
  if (decision.trouble === undefined || hasWayBack(work) || !isAsNoted) return decision;
  const records = { work: withWayBack(work), steps };
  return { ...decision, step: { type: 'write-records', records } };
}

export function orphanStage({ claims }: State): Stage<Step> {
  const owned = claims.filter(({ isOwned }) => isOwned);
  return {
    name: 'OrphanClaims',
    precondition: owned.map(({ name, uid }) => `${name} has uid ${uid}`).join('; '),
    isDone: owned.length === 0,
    act: () => orphanFirst(owned),
  };
}

function orphanFirst([claim]: readonly FoundClaim[]): Decision {
  if (claim === undefined) return waitFor('Go on', []);
  return { step: { type: 'orphan-claim', claim }, next: `Keep claim ${claim.name}` };
}

const deletesNext = ({ legacy }: State): string =>
  `Delete EtcdCluster ${legacy?.name ?? ''} of the old operator`;

function awaitEnd(state: State): Decision {
  const message = 'It is being deleted; see its finalizers if it does not end.';
  return waitFor(deletesNext(state), [{ reason: 'LegacyEnding', message }]);
}

/** Undefined where the new cluster is Ready. */
export function awaitReady(next: string, cluster: FoundCluster | undefined): Decision | undefined {
  if (cluster?.isReady === true) return undefined;
  const message = `The new EtcdCluster is not Ready: ${cluster?.says ?? 'it is gone.'}`;
  return waitFor(next, [{ reason: 'EtcdClusterStarting', message }]);
}

/** For a takeover after which nobody needs the old members: what they had is elsewhere, or lost. */
export function deleteOnceReady(
  state: State,
  { legacyUid }: TakeoverWork,
  cluster: FoundCluster | undefined,
): Decision {
  const { legacy } = state;
  const next = deletesNext(state);
  if (legacy === undefined || legacy.isEnding) return awaitEnd(state);
  const unready = awaitReady(next, cluster);
  if (unready !== undefined) return unready;
  const { resourceVersion } = legacy;
  return { step: { type: 'delete-legacy', uid: legacyUid, resourceVersion }, next };
}

/** A write after the switch is in the old cluster alone: then that stays. */
export function deleteLegacy(state: State, work: TakeoverWork): Decision {
  const { frozen, legacyUid } = work;
  const { legacy } = state;
  const next = deletesNext(state);
  if (legacy === undefined || legacy.isEnding) return awaitEnd(state);
  // One that was started again may lead the Service back, which would go with the object then.
  if (!stoppedOperators(state)) return stopOperators(state, work);
  const unready = awaitReady(next, state.work?.cluster);
  if (unready !== undefined) return unready;
  const answers = answersOf(state);
  if (!isQuorate(state) || answers.length === 0) {
    const message =
      'Clients are led over. The old members have no quorum, so that nobody knows whether ' +
      'somebody has written to them since. Bring one back, or delete the old EtcdCluster by hand.';
    const trouble = { reason: 'LegacySilent', message };
    return waitFor(next, [trouble], trouble);
  }
  const revisions = new Set(answers.map(({ answer }) => answer.status.header.revision));
  if (revisions.size !== 1 || !revisions.has(frozen?.revision ?? '')) {
    const message =
      `Clients are led over at revision ${frozen?.revision ?? ''}, and the old members are at ` +
      `${[...revisions].join(' and ')}: somebody has ended the alarm and has written to them. ` +
      'They are kept. Bring what was written over by hand, and delete the old EtcdCluster then.';
    const trouble = { reason: 'WrittenAfterSwitch', message };
    return waitFor(next, [trouble], trouble);
  }
  const { resourceVersion } = legacy;
  return { step: { type: 'delete-legacy', uid: legacyUid, resourceVersion }, next };
}
