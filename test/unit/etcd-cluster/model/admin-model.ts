// The answers of the model's members to their administrator.
import type { openEtcdAdmin } from '../../../../shared/etcd/admin.ts';
import { Failure } from '../../../../shared/errors.ts';
import type { EtcdModel } from './etcd-model.ts';

const hostOf = (url: string): string => new URL(url).hostname;

/** By the address of its pod. */
function processAt(model: EtcdModel, url: string) {
  const ordinal = hostOf(url).split('.').at(-1);
  return model.processes.get(`etcd-${ordinal}-0`);
}

/** A member that was forced to go on alone listens to nobody. */
const isServed = (model: EtcdModel): boolean =>
  model.hasQuorum() && [...model.processes.values()].some(({ isForced }) => !isForced);

const unavailable = (why: string): Failure => new Failure('ETCD_UNAVAILABLE', why);

export function adminOf(model: EtcdModel): typeof openEtcdAdmin {
  const change = async (what: string, how: () => void): Promise<void> => {
    if (!isServed(model)) throw unavailable('no leader');
    await model.kube.write(`etcd ${what}`, how);
  };
  const list = async ({ isLinearizable = true }: { readonly isLinearizable?: boolean } = {}) => {
    if (isLinearizable && !isServed(model)) throw unavailable('no quorum');
    const members = [...model.members.values()].map(({ id, name, peerUrl, isLearner }) => ({
      id,
      name,
      peerUrls: [peerUrl],
      clientUrls: [],
      isLearner,
    }));
    return { header: { clusterId: model.clusterId, memberId: '1' }, members };
  };
  const admin = {
    alarms: { list: async () => [] },
    members: {
      list,
      addLearner: ([url = '']: readonly string[]) =>
        change('add learner', () => model.addLearner(url)),
      promote: (id: string) => change('promote', () => model.promote(id)),
      remove: (id: string) => change('remove', () => model.removeMember(id)),
    },
    at: ({ url }: { readonly url: string }) => ({
      members: { list },
      status: async () => statusAt(model, url),
      versions: async () => ({ cluster: `3.${model.spoken.minor}.0` }),
      members: { list },
      moveLeader: (id: string) =>
        change('move leader', () => {
          model.leaderId = id;
        }),
    }),
    close: async () => undefined,
  };
  return (() => admin) as unknown as typeof openEtcdAdmin;
}

function statusAt(model: EtcdModel, url: string) {
  const process = processAt(model, url);
  if (process === undefined || process.isForced) throw unavailable('connection refused');
  const { memberId, clusterId, version, claimUid } = process;
  const behind = (model.data.get(claimUid)?.behind ?? 0) * 10_000;
  return {
    header: { memberId, clusterId, revision: '1', raftTerm: 1 },
    version,
    storageVersion: `3.${model.spoken.minor}.0`,
    downgradeTo: undefined,
    dbSizeBytes: 1_000,
    dbSizeInUseBytes: 1_000,
    leaderId: model.leaderId,
    raftIndex: 30_000 - behind,
    raftAppliedIndex: 30_000 - behind,
    isLearner: model.members.get(memberId)?.isLearner ?? false,
    errors: [],
    alarms: [],
  };
}
