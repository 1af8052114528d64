// Asks each member for its own view of the cluster: while no quorum confirms who the members are
// there is no other list, and members that see it differently must not be told apart by an upgrade.
// A cluster at rest is not asked.
import { Failure } from '../../shared/errors.ts';
import type { EtcdAdmin } from '../../shared/etcd/admin.ts';
import { endpointOf } from './connect.ts';
import type { EtcdState, View } from './etcd-state.ts';
import type { State } from './state.ts';
import { isOtherMinor } from '../../shared/etcd/version.ts';

const ANSWERS_WITHIN_MS = 3_000;

type Asked = Pick<State, 'cluster' | 'pods'>;

export async function askViews(
  admin: EtcdAdmin,
  { cluster, pods }: Asked,
  { list, answers }: Pick<EtcdState, 'list' | 'answers'>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, View>> {
  const { image } = cluster.spec;
  const isUpgrade = [...answers.values()].some(({ version }) => isOtherMinor(version, image));
  if (list !== undefined && !isUpgrade) return new Map();
  const views = await Promise.all(
    [...answers.keys()].map(async (name) => {
      const endpoint = endpointOf(cluster, pods, name);
      const view = endpoint && (await viewOf(admin, endpoint, signal));
      return view === undefined ? [] : [[name, view] as const];
    }),
  );
  signal.throwIfAborted();
  return new Map(views.flat());
}

/** Undefined when it does not answer: then it counts as one that was not asked. */
async function viewOf(
  admin: EtcdAdmin,
  endpoint: Parameters<EtcdAdmin['at']>[0],
  signal: AbortSignal,
): Promise<View | undefined> {
  const one = admin.at(endpoint);
  const options = { timeoutMs: ANSWERS_WITHIN_MS, signal };
  try {
    const [clusterVersion, { header, members }] = await Promise.all([
      one.clusterVersion(options),
      one.members.list({ isLinearizable: false, ...options }),
    ]);
    return { clusterId: header.clusterId, clusterVersion, members };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return undefined;
  }
}
