// The answers of the model's members to their administrator.
import type { Session } from '../../../../shared/etcd/admin/caller.ts';
import type { EtcdAdminOptions, openEtcdAdmin } from '../../../../shared/etcd/admin.ts';
import { Failure } from '../../../../shared/errors.ts';
import { dataOf } from '../../../../shared/stateful/certificates/secret-data.ts';
import { authAdminOf } from './auth-model.ts';
import { type EtcdModel, NAME, NAMESPACE } from './etcd-model.ts';
import type { AlarmModel } from './shapes.ts';
import { compact, defragment, disarm, hashOf, isCopying, unanswered } from './upkeep-model.ts';

/** By the address of its pod. */
function processAt(model: EtcdModel, url: string) {
  const [, ordinal = ''] = /\.(\d+):\d+$/.exec(url) ?? [];
  return model.processes.get(`etcd-${ordinal}-0`);
}

/** A member that was forced to go on alone listens to nobody. */
const isServed = (model: EtcdModel): boolean =>
  model.hasQuorum() && [...model.processes.values()].some(({ isForced }) => !isForced);

const unavailable = (why: string): Failure => new Failure('ETCD_UNAVAILABLE', why);

export function adminOf(model: EtcdModel): typeof openEtcdAdmin {
  return ((options: EtcdAdminOptions) =>
    adminAs(model, options.session)) as unknown as typeof openEtcdAdmin;
}

function rootPasswordIn({ kube }: EtcdModel): string {
  const secret = kube.objects.get(`secrets/${NAMESPACE}/${NAME}-root`);
  return secret === undefined ? '' : (dataOf(secret)['password'] ?? '');
}

function adminAs(model: EtcdModel, session: Asker) {
  const change = async (what: string, how: () => void): Promise<void> => {
    model.auth.admit(session);
    if (!isServed(model)) throw unavailable('no leader');
    await model.kube.write(`etcd ${what}`, how);
  };
  return {
    ...authAdminOf(model.auth, change, () => rootPasswordIn(model)),
    alarms: {
      list: async () => [],
      disarm: (alarm: AlarmModel) => change('disarm', () => disarm(model, alarm)),
    },
    keys: keysOf(model, change, session),
    members: {
      list: (how?: ListOptions) => listOf(model, session, how),
      addLearner: ([url = '']: readonly string[]) =>
        change('add learner', () => model.addLearner(url)),
      promote: (id: string) => change('promote', () => model.promote(id)),
      remove: (id: string) => change('remove', () => model.removeMember(id)),
    },
    at: ({ url }: { readonly url: string }) => memberAt(model, change, session, url),
    close: async () => undefined,
  };
}

/** The login of whoever asks; undefined without one. */
type Asker = Session | undefined;

interface ListOptions {
  readonly isLinearizable?: boolean;
}

async function listOf(
  model: EtcdModel,
  session: Asker,
  { isLinearizable = true }: ListOptions = {},
) {
  model.auth.admit(session);
  if (isLinearizable && !isServed(model)) throw unavailable('no quorum');
  const members = [...model.members.values()].map(({ id, name, peerUrl, isLearner }) => ({
    id,
    name,
    peerUrls: [peerUrl],
    clientUrls: [],
    isLearner,
  }));
  return { header: { clusterId: model.clusterId, memberId: '1' }, members };
}

function statusAt(model: EtcdModel, url: string) {
  const process = processAt(model, url);
  if (process === undefined || process.isForced) throw unavailable('connection refused');
  const { memberId, clusterId, version, claimUid } = process;
  const data = model.data.get(claimUid);
  const behind = (data?.behind ?? 0) * 10_000;
  return {
    header: { memberId, clusterId, revision: String(model.upkeep.revision), raftTerm: 1 },
    version,
    storageVersion: `3.${model.spoken.minor}.0`,
    downgradeTo: undefined,
    dbSizeBytes: data?.sizeBytes ?? 0,
    dbSizeInUseBytes:
      (data?.keysBytes ?? 0) + (data?.historyBytes ?? 0) + (data?.countedBytes ?? 0),
    leaderId: model.leaderId,
    raftIndex: 30_000 - behind,
    raftAppliedIndex: 30_000 - behind,
    isLearner: model.members.get(memberId)?.isLearner ?? false,
    errors: [],
    alarms: model.upkeep.alarms,
  };
}

function hashAt(model: EtcdModel, url: string) {
  const process = processAt(model, url);
  if (process === undefined) throw unavailable('connection refused');
  return hashOf(model, process);
}

function readAt(model: EtcdModel, url: string) {
  const process = processAt(model, url);
  if (process === undefined) throw unavailable('connection refused');
  if (isCopying(model, process)) throw unanswered(url, false);
  return { found: undefined };
}

type Change = (what: string, how: () => void) => Promise<void>;

const keysOf = (model: EtcdModel, change: Change, session: Asker) => {
  const admitted = admittedTo(model, session);
  return {
    compact: (revision: string) => change('compact', () => compact(model, revision)),
    isForgotten: (revision: string) =>
      admitted(() => Number(revision) < model.upkeep.compactRevision),
    countParts: () => admitted(() => ({ parts: [{ prefix: '/shop/', keys: 7 }], isWhole: true })),
    sampleBytes: () => admitted(() => 1_000),
  };
};

/** Answers nobody whom etcd would not. */
const admittedTo =
  (model: EtcdModel, session: Asker) =>
  async <Answer>(answer: () => Answer): Promise<Answer> => {
    model.auth.admit(session);
    return answer();
  };

const memberAt = (model: EtcdModel, change: Change, session: Asker, url: string) => {
  const admitted = admittedTo(model, session);
  return {
    status: () => admitted(() => statusAt(model, url)),
    clusterVersion: async () => `3.${model.spoken.minor}.0`,
    members: { list: () => listOf(model, session, { isLinearizable: false }) },
    hashKv: () => admitted(() => hashAt(model, url)),
    keys: { get: () => admitted(() => readAt(model, url)) },
    defragment: async () => {
      await change('defragment', () => defragment(model, processAt(model, url)));
      // It takes longer than anybody waits.
      throw unanswered(url, true);
    },
    moveLeader: (id: string) =>
      change('move leader', () => {
        model.leaderId = id;
      }),
  };
};
