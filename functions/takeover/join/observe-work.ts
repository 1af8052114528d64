// Reads what only matters while members join or leave: the new EtcdCluster, the word of its
// members, and the hash of their keys when it is time for it. Writes nothing.
import { ETCD_CLUSTERS } from '../../../shared/api/etcd-cluster.ts';
import type { TakeoverWork } from '../../../shared/api/takeover.ts';
import { Failure } from '../../../shared/errors.ts';
import type { EtcdHashKv } from '../../../shared/etcd/admin/upkeep.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { accessToNew } from '../access.ts';
import { askAt } from '../ask-members.ts';
import type { Door } from '../door.ts';
import { foundCluster, newPods, memberClaims } from '../find-new.ts';
import { isSwitched } from '../lead-over.ts';
import type { FreshMember, Joining, State } from '../state.ts';
import { isJoining } from './render.ts';

/** A gigabyte takes some seconds. */
const HASHED_WITHIN_MS = 20_000;

interface Looking {
  readonly kube: KubeClient;
  readonly door: Pick<Door, 'ask' | 'hashKv'>;
  readonly signal: AbortSignal;
}

export async function observeJoining(
  looking: Looking,
  state: State,
  work: TakeoverWork,
): Promise<Joining> {
  const { kube, door, signal } = looking;
  const { takeover } = state;
  // They tell what an EtcdCluster that is gone has left.
  const claims = await memberClaims(looking, takeover, work.clusterId);
  const target = { namespace: takeover.namespace, name: takeover.spec.into.name };
  const object = (await kube.get(ETCD_CLUSTERS, target, { signal })) ?? undefined;
  const pods = await newPods(looking, takeover);
  const fresh = await Promise.all(
    pods.map(async ({ name: pod, ip }): Promise<FreshMember> => {
      if (ip === undefined) return { pod, ip, asked: { silent: 'Its pod does not run.' } };
      return { pod, ip, asked: await askAt(door.ask, accessToNew(state, [{ ip }]), signal) };
    }),
  );
  return {
    cluster: object && foundCluster(object, isJoining(object, takeover, work), work.clusterId),
    fresh,
    memberClaims: claims,
    hashes: isTime(state, work) ? await compare(looking, state, fresh) : undefined,
  };
}

const isTime = (state: State, { rollingBackAt }: TakeoverWork): boolean =>
  rollingBackAt === undefined &&
  state.takeover.status.steps?.some(({ name }) => name === 'SwitchService') === true &&
  !isSwitched(state);

/** Up to the revision that all of them have. */
async function compare(
  { door, signal }: Looking,
  state: State,
  fresh: readonly FreshMember[],
): Promise<Joining['hashes']> {
  const answered = fresh.flatMap(({ pod, ip, asked }) =>
    'status' in asked ? [{ pod, ip, revision: BigInt(asked.status.header.revision) }] : [],
  );
  const [least] = answered.map(({ revision }) => revision).toSorted((a, b) => (a < b ? -1 : 1));
  if (least === undefined) return notCompared('none of them answers.');
  const options = { timeoutMs: HASHED_WITHIN_MS, signal };
  try {
    const hashes = await Promise.all(
      answered.map(async ({ pod, ip }) => {
        const hash = await door.hashKv(accessToNew(state, [{ ip }]), String(least), options);
        return { pod, hash };
      }),
    );
    return compared(hashes, String(least));
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof Failure)) throw error;
    return notCompared(error.message);
  }
}

interface Hashed {
  readonly pod: string;
  readonly hash: EtcdHashKv;
}

/** With history up to different revisions they say nothing. */
function compared(hashes: readonly Hashed[], revision: string): Joining['hashes'] {
  if (new Set(hashes.map(({ hash }) => hash.compactRevision)).size > 1) {
    return notCompared('history is being forgotten.');
  }
  const isSame = new Set(hashes.map(({ hash }) => hash.hash)).size === 1;
  const each = hashes.map(({ pod, hash }) => `${pod} has ${hash.hash}`).join(', ');
  return { isSame, told: `at revision ${revision} ${each}` };
}

const notCompared = (why: string) => ({
  reason: 'NotCompared',
  message: `The keys of the new members could not be compared: ${why}`,
});
