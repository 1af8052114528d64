// Asks the members of a cluster: each about itself, and a quorum of them who the members are. That
// none answers is an answer too.
import { cut } from '../../shared/cut.ts';
import { Failure } from '../../shared/errors.ts';
import { isEtcdFailure } from '../../shared/etcd/admin/failure.ts';
import type { EtcdAdmin } from '../../shared/etcd/admin.ts';
import type { EtcdStatus } from '../../shared/etcd/admin/status.ts';
import { askAuth, type AuthMemory } from './auth/ask.ts';
import { askViews } from './ask-views.ts';
import { endpointOf, withMembers } from './connect.ts';
import type { Deps } from './deps.ts';
import type { Cluster } from './cluster.ts';
import { type Alarm, type EtcdState, type MemberAnswer, NO_ANSWERS } from './etcd-state.ts';
import type { Parts, State } from './state.ts';

/** A member that is alive answers within milliseconds; a silent one costs this much. */
const ANSWERS_WITHIN_MS = 3_000;
const WHY_BYTES_MAX = 200;

type Asked = Pick<State, 'cluster' | 'pods' | 'peers'>;

export async function askMembers(
  { openAdmin, memory }: Pick<Deps, 'openAdmin'> & { readonly memory: AuthMemory },
  asked: Asked,
  { access, auth }: Pick<Parts, 'access' | 'auth'>,
  signal: AbortSignal,
): Promise<EtcdState> {
  const { cluster, pods, peers } = asked;
  const ours = peers.filter(({ isOurs }) => isOurs).map(({ name }) => name);
  const names = ours.filter((name) => endpointOf(cluster, pods, name) !== undefined);
  if (names.length === 0 || access === undefined) return NO_ANSWERS;
  const refusals: Refusals = new Set();
  return withMembers(openAdmin, { cluster, pods, access }, names, async (admin) => {
    const statuses = names.map((name) => orSilence(statusOf(admin, asked, name, signal), refusals));
    const listed = listOf(admin, cluster, statuses, { refusals, signal });
    const [list, ...told] = await Promise.all([listed, ...statuses]);
    signal.throwIfAborted();
    const answers = new Map(names.map((name, index) => [name, told[index] ?? 'no answer']));
    const found = stateOf(list, answers);
    const members = { ...found, views: await askViews(admin, asked, found, signal) };
    if (refusals.size > 0 || auth === undefined) return { ...members, ...refusedBy(refusals) };
    if (members.list === undefined) return members;
    const seen = await orSilence(askAuth(admin, cluster, auth, memory, signal), refusals);
    signal.throwIfAborted();
    const known = typeof seen === 'string' ? { authSilence: seen } : { auth: seen };
    return { ...members, ...known, ...refusedBy(refusals) };
  });
}

/**
 * Without a quorum nobody confirms the list, and to hear that takes all the time that there is. A
 * cluster that is known to have none is asked for it when a member has a leader again.
 */
async function listOf(
  admin: EtcdAdmin,
  { status: { quorumLostSince } }: Cluster,
  statuses: readonly Promise<EtcdStatus | string>[],
  by: { readonly refusals: Refusals; readonly signal: AbortSignal },
): Promise<List | string> {
  if (quorumLostSince !== undefined) {
    const told = await Promise.all(statuses);
    const isLed = told.some((one) => typeof one !== 'string' && one.leaderId !== undefined);
    if (!isLed) return 'No member has a leader.';
  }
  const options = { timeoutMs: ANSWERS_WITHIN_MS, signal: by.signal };
  return orSilence(admin.members.list({ isLinearizable: true, ...options }), by.refusals);
}

type Refusals = Set<NonNullable<EtcdState['refused']>>;

const refusedBy = ([refused]: Refusals): Pick<EtcdState, 'refused'> =>
  refused === undefined ? {} : { refused };

async function statusOf(
  admin: EtcdAdmin,
  { cluster, pods }: Asked,
  name: string,
  signal: AbortSignal,
): Promise<EtcdStatus> {
  const endpoint = endpointOf(cluster, pods, name);
  if (endpoint === undefined) throw new Error(`${name} has no address`);
  return admin.at(endpoint).status({ timeoutMs: ANSWERS_WITHIN_MS, signal });
}

/** The answer, or why there is none. */
async function orSilence<Answer>(
  answer: Promise<Answer>,
  refusals: Refusals,
): Promise<Answer | string> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (isEtcdFailure(error, 'LOGIN_FAILED')) refusals.add('LOGIN_FAILED');
    if (isEtcdFailure(error, 'NO_LOGIN')) refusals.add('NO_LOGIN');
    return cut(error.message, WHY_BYTES_MAX);
  }
}

type List = Awaited<ReturnType<EtcdAdmin['members']['list']>>;

function stateOf(list: List | string, told: ReadonlyMap<string, EtcdStatus | string>): EtcdState {
  const answers = new Map<string, MemberAnswer>();
  const silent = new Map<string, string>();
  const alarms = new Map<string, Alarm>();
  for (const [name, status] of told) {
    if (typeof status === 'string') silent.set(name, status);
    else {
      answers.set(name, answerIn(status));
      for (const { memberId, type } of status.alarms) {
        alarms.set(`${memberId} ${type}`, { memberId, type });
      }
    }
  }
  return {
    list:
      typeof list === 'string'
        ? undefined
        : { clusterId: list.header.clusterId, members: list.members },
    answers,
    alarms: [...alarms.values()],
    silent,
    views: new Map(),
  };
}

const answerIn = ({ header, ...status }: EtcdStatus): MemberAnswer => ({
  memberId: header.memberId,
  clusterId: header.clusterId,
  version: status.version,
  leaderId: status.leaderId,
  isLearner: status.isLearner,
  databaseBytes: status.dbSizeBytes,
  databaseBytesInUse: status.dbSizeInUseBytes,
  revision: header.revision,
  quotaBytes: status.quotaBytes,
  raftIndex: status.raftIndex,
  raftAppliedIndex: status.raftAppliedIndex,
  storageVersion: status.storageVersion,
  downgradeTo: status.downgradeTo,
});
