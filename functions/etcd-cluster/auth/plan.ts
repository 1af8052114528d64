// Brings logins to what the spec says, one step at a time: users and roles are made while etcd asks
// for no login, then root, in the same step that makes etcd ask, so that nobody is locked out, the
// function least of all. Pure.
import { ETCD_CLUSTER_LABEL } from '../../../shared/api/etcd-cluster.ts';
import type { EtcdAuthStatus } from '../../../shared/api/etcd-auth.ts';
import type { Reason } from '../../../shared/kube/conditions.ts';
import { listed, waitFor } from '../../../shared/stateful/decision.ts';
import type { Decision } from '../decision.ts';
import { forget, remember } from '../records.ts';
import { unknownReason } from '../safety.ts';
import type { State } from '../state.ts';
import { keepRoles, keepUsers, type Known, recordIn, removeGone } from './plan-users.ts';
import { ROOT_SUFFIX } from './secrets.ts';
import { type AuthSeen, ROOT } from './state.ts';

const NEXT = 'Bring users and roles to what the spec says';

/** Steps alone: what it has to wait for is told when nothing else is left to do. */
export function keepAuth(state: State): Decision | undefined {
  const { spec, status } = state.cluster;
  const { auth: seen } = state.etcd;
  const { auth: parts } = state.parts;
  if (seen === undefined || parts === undefined || unknownReason(state) !== undefined) {
    return undefined;
  }
  const { auth: record } = status;
  if (spec.auth === undefined) {
    if (record === undefined) return undefined;
    return end(state, { seen, parts, record: recordIn(record) });
  }
  if (parts.lacking !== undefined || parts.root === undefined) return undefined;
  if (record === undefined || record.phase === 'Ending') return begin(state, seen, record);
  const known = { seen, parts, record: recordIn(record) };
  // Until etcd asks for logins nobody can be proven, and anybody may change what was made.
  if (record.phase === 'On' && !seen.isEnabled) return turnOn(state, known);
  const kept = removeGone(state, known) ?? keepRoles(state, known) ?? keepUsers(state, known);
  return kept ?? turnOn(state, known);
}

/** Data that asks for logins already is that of an EtcdCluster that was made again. */
function begin(
  state: State,
  { isEnabled }: AuthSeen,
  before: EtcdAuthStatus | undefined,
): Decision {
  const { users = [], roles = [] } = before ?? {};
  const rootSecret = `${state.cluster.name}${ROOT_SUFFIX}`;
  const phase = isEnabled ? 'On' : 'Preparing';
  return remember(state, { auth: { phase, rootSecret, users, roles } }, NEXT);
}

function turnOn(state: State, { seen, record }: Known): Decision | undefined {
  const next = 'Let etcd ask for logins';
  if (seen.isEnabled) return undefined;
  if (record.phase === 'On')
    return { step: { type: 'change-auth', change: { do: 'enable' } }, next };
  if (foreignUsers(state).length > 0) return undefined;
  return remember(state, { auth: { ...record, phase: 'On' } }, next);
}

/** The spec has no auth any more: etcd asks for no login first, and then loses what we made. */
function end(state: State, { seen, parts, record }: Known): Decision | undefined {
  const next = 'Let etcd ask for no login';
  if (record.phase !== 'Ending')
    return remember(state, { auth: { ...record, phase: 'Ending' } }, next);
  if (seen.isEnabled) {
    return { step: { type: 'change-auth', change: { do: 'disable' } }, next };
  }
  const left = removeGone(state, { seen, parts, record });
  if (left !== undefined) return left;
  if (seen.users.has(ROOT)) {
    return { step: { type: 'change-auth', change: { do: 'delete-user', user: ROOT } }, next };
  }
  return forget(state, ['auth'], next);
}

/** Their passwords are known to whoever made them, and their roles are none of ours. */
function foreignUsers({ cluster, etcd }: State): readonly string[] {
  const { spec, status } = cluster;
  const known = [
    ROOT,
    ...(spec.auth?.users ?? []).map(({ name }) => name),
    ...(status.auth?.users ?? []).map(({ name }) => name),
  ];
  return [...(etcd.auth?.users.keys() ?? [])].filter((name) => !known.includes(name)).toSorted();
}

/** Members that do not know our login let us see nothing, and change nothing. */
export function reportRefusedLogin(state: State): Decision | undefined {
  const { cluster, etcd, parts } = state;
  const { refused } = etcd;
  if (refused === undefined) return undefined;
  const secret = `${cluster.name}${ROOT_SUFFIX}`;
  const lost = parts.auth?.lacking?.reason === 'RootPasswordLost' ? parts.auth.lacking : undefined;
  const message =
    refused === 'LOGIN_FAILED'
      ? `The members do not take the password of root in Secret ${secret}: give root that one ` +
        'with etcdctl, or delete the Secret and make it again with the one that they know.'
      : `The members ask for a login, and there is no Secret ${secret}: make it with the label ` +
        `${ETCD_CLUSTER_LABEL}: ${cluster.name} and the password of root, or turn logins off ` +
        'with etcdctl auth disable.';
  const trouble: Reason = lost ?? { reason: 'LoginRefused', message };
  return waitFor('Look at the members', [trouble], trouble);
}

/** All else is done before it is told. */
export function reportAuth(state: State): Decision | undefined {
  const { cluster, etcd, parts } = state;
  const { auth: wanted } = cluster.spec;
  if (wanted !== undefined && parts.auth?.lacking !== undefined) {
    return waitFor(NEXT, [parts.auth.lacking], parts.auth.lacking);
  }
  if (etcd.auth === undefined) {
    if (wanted === undefined && cluster.status.auth === undefined) return undefined;
    const message = `The members do not tell who may log in. ${etcd.authSilence ?? ''}`.trim();
    return waitFor(NEXT, [{ reason: 'UsersUnknown', message }]);
  }
  const trouble = leftOn(state) ?? foreign(state);
  return trouble && waitFor(NEXT, [trouble], trouble);
}

/** Opening data to everybody takes more than a field that somebody forgot. */
function leftOn({ cluster, etcd }: State): Reason | undefined {
  if (cluster.spec.auth !== undefined || etcd.auth?.isEnabled !== true) return undefined;
  const message =
    'The data asks for logins, and the spec says nothing of them. Write spec.auth as it was, or ' +
    'write spec.auth: {} and take it away again, which opens the data to every client.';
  return { reason: 'AuthLeftOn', message };
}

function foreign(state: State): Reason | undefined {
  const names = foreignUsers(state);
  if (names.length === 0 || state.cluster.spec.auth === undefined) return undefined;
  const asks = state.etcd.auth?.isEnabled === true;
  const message =
    `Somebody else made users of etcd: ${listed(names)}. Name them in spec.auth.users, or delete ` +
    `them with etcdctl user delete.${asks ? '' : ' Etcd asks for no login before.'}`;
  return { reason: 'ForeignUser', message };
}
