// Asks each member for its own view of the cluster, as long as another minor version is wanted:
// members that see it differently must not be told apart by an upgrade. A cluster at rest is not
// asked.
import type { EtcdAdmin } from '../../shared/etcd/admin.ts';
import { Failure } from '../../shared/errors.ts';
import { endpointOf } from './connect.ts';
import type { MemberAnswer, View } from './etcd-state.ts';
import type { State } from './state.ts';
import { isOtherMinor } from './version.ts';

const ANSWERS_WITHIN_MS = 3_000;

type Asked = Pick<State, 'cluster' | 'pods'>;

export async function askViews(
  admin: EtcdAdmin,
  { cluster, pods }: Asked,
  answers: ReadonlyMap<string, MemberAnswer>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, View>> {
  const { image } = cluster.spec;
  if (![...answers.values()].some(({ version }) => isOtherMinor(version, image))) return new Map();
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
    const [{ cluster }, { members }] = await Promise.all([
      one.versions(options),
      one.members.list({ isLinearizable: false, ...options }),
    ]);
    return { clusterVersion: cluster, members };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return undefined;
  }
}
