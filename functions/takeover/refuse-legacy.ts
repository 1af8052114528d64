// Reasons against a takeover on the side of the legacy cluster. Each is a sentence that says
// what to do. Pure.
import type { Reason } from '../../shared/kube/conditions.ts';
import { listed } from '../../shared/stateful/decision.ts';
import { answersOf, oldestOf, silentOf } from './answers.ts';
import { tooMany } from './claims-go.ts';
import { grantOfEtcd } from './grant.ts';
import { joins } from './join/mode.ts';
import { isOneService, type LegacyEtcd } from './legacy.ts';
import { operatorOf } from './legacy/operators.ts';
import { refuseOperator, refuseServices } from './refuse-found.ts';
import { canAsk } from './refuse-secrets.ts';
import { refuseSilent } from './refuse-silent.ts';
import type { State } from './state.ts';
import { versionOf } from './versions.ts';

/** Version 3.3 of etcd. */
const OLDEST = 3_003;

export function refuseMembers(state: State): readonly Reason[] {
  const { legacy, pods, members, isCut } = state;
  if (legacy === undefined) return [];
  if (isCut) return [tooMany(legacy)];
  if (legacy.statefulSet !== undefined && state.statefulSet === undefined) {
    return [setMissing(legacy)];
  }
  if (pods.length === 0) return [noMembers(legacy)];
  if (state.statefulSet?.isRolling === true) return [rolling(legacy)];
  const probed = pods.filter(({ endsUnhealthy }) => endsUnhealthy).map(({ name }) => name);
  // Only a restore raises an alarm.
  if (probed.length > 0 && !joins(state)) return [endsWithAlarm(probed, legacy)];
  if (members === undefined || !canAsk(state)) return [];
  const answers = answersOf(state);
  const silent = answers.length === 0 ? refuseSilent(state) : [];
  if (silent.length > 0) return silent;
  const ids = new Set(answers.map(({ answer }) => answer.status.header.clusterId));
  if (ids.size > 1) return [disagree(state)];
  const isClosed = answers.some(({ answer }) => answer.hasAuth);
  if (isClosed) return [AUTH];
  const isQuorate = answers.some(({ answer }) => answer.isQuorate);
  return [
    ...(isQuorate ? [] : [noQuorum(state)]),
    ...refuseVersion(state),
    ...corrupt(state),
    ...v2Keys(state),
  ];
}

const noMembers = ({ name, namespace }: LegacyEtcd): Reason => ({
  reason: 'NoMembers',
  message:
    `EtcdCluster ${namespace}/${name} has no pod any more, so there is nobody to take its data ` +
    'from. If a claim or a backup of it is left, restore that with an EtcdRestore.',
});

/** Its operator makes it anew when claims are to grow, and pods have none meanwhile. */
const setMissing = ({ name, namespace, statefulSet }: LegacyEtcd): Reason => ({
  reason: 'StatefulSetMissing',
  message:
    `There is no StatefulSet ${namespace}/${statefulSet} of EtcdCluster ${name}, so that nobody ` +
    'knows which pods are its own. Its operator makes it anew: let it run for a moment.',
});

/** With an alarm none of the pods that its controller starts anew becomes ready. */
const rolling = ({ namespace, statefulSet }: LegacyEtcd): Reason => ({
  reason: 'PodsRolling',
  message:
    `StatefulSet ${namespace}/${statefulSet} is bringing a change to its pods, one after the ` +
    'other, and would end one while writers wait, which does not start again until they go on. ' +
    `Let it come to its end first: kubectl -n ${namespace} rollout status statefulset ` +
    `${statefulSet}.`,
});

const endsWithAlarm = (pods: readonly string[], { statefulSet }: LegacyEtcd): Reason => ({
  reason: 'ProbeEndsPods',
  message:
    `The liveness probe of ${listed(pods)} asks for the health of etcd, which is none while an ` +
    'alarm keeps writers from writing: the kubelet would end these pods, and ' +
    (statefulSet === undefined ? 'nobody starts them again. ' : 'all that start after them. ') +
    'Take it over by hand: docs/takeover.md.',
});

function disagree(state: State): Reason {
  const told = answersOf(state).map(
    ({ pod, answer }) => `${pod} is of ${BigInt(answer.status.header.clusterId).toString(16)}`,
  );
  const message =
    `Its members are of different clusters: ${listed(told)}. Find out which of them clients use, ` +
    'and delete the pods of the other one.';
  return { reason: 'MembersDisagree', message };
}

const AUTH: Reason = {
  reason: 'AuthEnabled',
  message:
    'Its members ask for logins, which the takeover has none of. Turn them off with etcdctl auth ' +
    'disable, and on again afterwards.',
};

function v2Keys(state: State): readonly Reason[] {
  const answers = answersOf(state);
  if (answers.some(({ answer }) => answer.hasV2Keys === true)) return [V2_KEYS];
  const untold = answers.filter(({ answer }) => answer.hasV2Keys === undefined);
  if (untold.length === 0) return [];
  const message =
    `Not told by ${listed(untold.map(({ pod }) => pod))}: whether clients have put keys by the ` +
    'API of before version 3 (v2), which no snapshot has. It is asked again at the next look; ' +
    'ETCDCTL_API=2 etcdctl ls / shows what is in the way.';
  return [{ reason: 'V2KeysUnknown', message }];
}

const V2_KEYS: Reason = {
  reason: 'V2Keys',
  message:
    'Clients have put keys by the API of before version 3 (v2), which are in a store of their ' +
    'own: no snapshot has them, and no etcd of today serves them, so that they would be lost. ' +
    'Bring those that are used into keys of version 3, and remove all (ETCDCTL_API=2 etcdctl rm ' +
    '--recursive).',
};

function noQuorum(state: State): Reason {
  const answering = answersOf(state).map(({ pod }) => pod);
  const silent = silentOf(state);
  const whom = answering.length === 0 ? 'No member answers' : `Only ${listed(answering)} answers`;
  const others = silent.length === 0 ? '' : `, and not ${listed(silent)}${whyOf(state, silent[0])}`;
  const last =
    answering.length === 0
      ? 'If nobody can, restore the last backup, or the claim of a member, with an EtcdRestore.'
      : 'If nobody can, back up one that answers (npm run backup), and restore that ' +
        'with an EtcdRestore.';
  const message =
    `It has no quorum, so that nobody knows what was written last. ${whom}${others}. Bring one ` +
    `back with its data, and it goes on by itself. ${last}`;
  return { reason: 'NoQuorum', message };
}

function whyOf({ members }: State, pod: string | undefined): string {
  const asked = pod === undefined ? undefined : members?.get(pod);
  return asked !== undefined && 'silent' in asked ? ` (${asked.silent})` : '';
}

function refuseVersion(state: State): readonly Reason[] {
  const oldest = oldestOf(state);
  if (oldest === undefined || versionOf(oldest) >= OLDEST) return [];
  const message =
    `It runs etcd ${oldest}, and takeovers are known to work from 3.3 on. Bring it to 3.3.27 ` +
    'first: while its operator runs, by spec.version of the EtcdCluster.';
  return [{ reason: 'VersionTooOld', message }];
}

function corrupt(state: State): readonly Reason[] {
  const damaged = answersOf(state).filter(({ answer }) =>
    answer.status.alarms.some(({ type }) => type === 'CORRUPT'),
  );
  if (damaged.length === 0) return [];
  const message =
    `${listed(damaged.map(({ pod }) => pod))} says that data of a member is corrupt. ` +
    'Find out which member differs (etcdctl endpoint hashkv), and remove that one first.';
  return [{ reason: 'Corrupt', message }];
}

/** Clients know the one, members the other. */
export function refuseItsServices(state: State): readonly Reason[] {
  const { legacy, client, headless } = state;
  if (legacy === undefined) return [];
  const known = [
    [legacy.clientService, client],
    [legacy.headlessService, headless],
  ] as const;
  const services = isOneService(legacy) ? known.slice(0, 1) : known;
  const { label, labels } = legacy;
  return refuseServices(state, { label, labels, services });
}

/** Reasons in the ways of its operator, which others do not have. */
export function refuseItsWays(state: State): readonly Reason[] {
  const { takeover, legacy } = state;
  return legacy === undefined ? [] : operatorOf(takeover.spec.legacy).refuse(state, legacy);
}

export function refuseItsOperator(state: State): readonly Reason[] {
  const { takeover, legacy, operators } = state;
  if (legacy === undefined) return [];
  const isUnknown = legacy.isClusterwide && operators.length === 0;
  if (takeover.spec.legacy.operator !== undefined || !isUnknown) {
    return refuseOperator(state, grantOfEtcd(takeover, legacy));
  }
  return [{ reason: 'OperatorUnknown', message: operatorOf(takeover.spec.legacy).unknown }];
}
