// P15: from nothing to Ready: an EtcdCluster of one, three and five members against the plain
// StatefulSet that charts install, all three at the same time. Members are real etcds as processes,
// the controllers those of Kubernetes; what a node takes to fetch an image and to make a volume is
// on neither side.
import type { EtcdSettings } from '../../shared/api/etcd-cluster.ts';
import type { EtcdPlace } from '../integration/etcd-cluster/etcd-place.ts';
import { PlainSet } from './etcd/plain-set.ts';
import { startShippedPlace } from './etcd/shipped-place.ts';
import { createOurs, defaultSettings, deleteOurs, OURS, PLAIN } from './etcd/sides.ts';
import type { Bench, Sample } from './runner.ts';

const NAMESPACE = 'p15';
const SIZES = [1, 3, 5];

const figureOf = (replicas: number): string => `${replicas} to Ready`;

export const bench: Bench = {
  id: 'P15',
  title: 'an etcd of one, three and five members from nothing to Ready',
  pairs: 5,
  figures: SIZES.map((replicas) => ({
    name: figureOf(replicas),
    unit: 's',
    ours: OURS,
    against: PLAIN,
    better: 'lower',
    limit: Infinity,
  })),
  open: async () => {
    const place = await startShippedPlace();
    try {
      const settings = await defaultSettings(place);
      await place.namespace(NAMESPACE);
      const sides = [
        { name: OURS, run: sideOf((replicas, name) => ours(place, name, replicas)) },
        { name: PLAIN, run: sideOf((replicas, name) => plain(place, settings, name, replicas)) },
      ];
      return { sides, close: () => place.stop() };
    } catch (error) {
      await place.stop();
      throw error;
    }
  },
};

/** All sizes at the same time; each cluster has a name of its own. */
function sideOf(
  measure: (replicas: number, name: string) => Promise<number>,
): () => Promise<Sample> {
  let made = 0;
  return async () => {
    const taken = SIZES.map(async (replicas) => {
      made += 1;
      const tookMs = await measure(replicas, `etcd${made}`);
      return [figureOf(replicas), tookMs / 1_000] as const;
    });
    return Object.fromEntries(await Promise.all(taken));
  };
}

async function ours(place: EtcdPlace, name: string, replicas: number): Promise<number> {
  const at = { namespace: NAMESPACE, name };
  const startedAtMs = performance.now();
  await createOurs(place, at, replicas);
  await place.wakeUntilReady(at);
  const tookMs = performance.now() - startedAtMs;
  await deleteOurs(place, at);
  return tookMs;
}

async function plain(
  { kube }: EtcdPlace,
  settings: EtcdSettings,
  name: string,
  replicas: number,
): Promise<number> {
  const set = new PlainSet(
    kube,
    { namespace: NAMESPACE, name: `plain-${name}` },
    settings,
    replicas,
  );
  const startedAtMs = performance.now();
  await set.create();
  await set.untilReady();
  const tookMs = performance.now() - startedAtMs;
  await set.delete();
  return tookMs;
}
