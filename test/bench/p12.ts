// P12: what it costs the API server to bring a NATS cluster of real servers from nothing through an
// upgrade and from three servers to five and back, against the writes that nobody could do without;
// and what a look at a cluster at rest costs.
import { pino } from 'pino';
import { Deps } from '../../functions/nats-cluster/deps.ts';
import { reconciler } from '../../functions/nats-cluster/reconciler.ts';
import { NATS_CLUSTER_LEASE } from '../../shared/api/nats-cluster.ts';
import { systemClock } from '../../shared/clock.ts';
import type { Context } from '../../shared/function/define.ts';
import { type KubeClient, openKube } from '../../shared/kube/client.ts';
import { openSystem } from '../../shared/nats/system.ts';
import { until } from '../builders/versioned-kind.ts';
import { Place } from '../integration/nats-cluster/place.ts';
import { isReady, NEW_IMAGE, OLD_IMAGE } from '../integration/nats-cluster/scene.ts';
import type { Bench, Sample } from './runner.ts';

const OURS = 'nats-cluster';
const LEAST = 'least possible';
/**
 * Created: two Secrets with passwords, the configuration, two Services, a budget, the StatefulSet.
 * Upgraded: the template and three pods. Up: the configuration and the StatefulSet. Down: the
 * configuration, and for each server the StatefulSet and a claim.
 */
const LEAST_WRITES = 7 + 4 + 2 + 5;
/** The list of clusters, and the list of pods. */
const LOOK_READS = 2;
const WORK_MS = 10_000;
const CONVERGED_WITHIN_MS = 180_000;
const REST_LOOKS = 5;

const lower = { ours: OURS, against: LEAST, better: 'lower', control: 'writes' } as const;

export const bench: Bench = {
  id: 'P12',
  title: 'a NATS cluster made, upgraded, scaled from 3 to 5 and back',
  pairs: 5,
  figures: [
    { ...lower, name: 'writes', unit: '', limit: 1 },
    { ...lower, name: 'reads of a look at rest', sample: 'restReads', unit: '', limit: 1 },
    { ...lower, name: 'writes of a look at rest', sample: 'restWrites', unit: '', limit: 0 },
    { ...lower, name: 'writes of the status', sample: 'statusWrites', unit: '', limit: Infinity },
    { ...lower, name: 'reads', unit: '', limit: Infinity },
  ],
  open: async () => {
    const place = await Place.start();
    const least = {
      writes: LEAST_WRITES,
      restReads: LOOK_READS,
      // The denominator of a ratio cannot be 0, so none is counted as 1.
      restWrites: 1,
      statusWrites: LEAST_WRITES,
      reads: LEAST_WRITES,
    };
    let runs = 0;
    return {
      sides: [
        {
          name: OURS,
          run: () => {
            runs += 1;
            return measure(place, `p12-${runs}`);
          },
        },
        { name: LEAST, run: async () => least },
      ],
      close: () => place.stop(),
    };
  },
};

async function measure(place: Place, namespace: string): Promise<Sample> {
  await place.namespace(namespace);
  const { kubeconfigPath } = place.plane;
  const identity = { userAgent: 'bench', fieldManager: 'ballast-nats-cluster' };
  const kube = openKube({ kubeconfigPath, ...identity });
  const lease = { namespace: 'ballast-system', name: NATS_CLUSTER_LEASE, sweepSeconds: 60 };
  const deps = new Deps({ kube, openSystem, clock: systemClock, workMs: WORK_MS, lease });
  const cluster = { namespace, name: 'nats' };
  await place.create(cluster, { image: OLD_IMAGE, lameDuck: { graceSeconds: 1 } });
  try {
    for (const edit of [{}, { image: NEW_IMAGE }, { replicas: 5 }, { replicas: 3 }]) {
      await place.edit(cluster, edit);
      await until(
        'it to be Ready',
        () => isReadyAfterSweep(place, deps, cluster),
        CONVERGED_WITHIN_MS,
      );
    }
    const whole = countsOf(kube);
    kube.resetCounts();
    for (let looks = 0; looks < REST_LOOKS; looks += 1) await sweep(deps);
    const rest = countsOf(kube);
    const restWrites = (rest.writes + rest.statusWrites) / REST_LOOKS;
    return { ...whole, restReads: rest.reads / REST_LOOKS, restWrites };
  } finally {
    await place.remove(cluster);
    await deps.close();
  }
}

async function isReadyAfterSweep(
  place: Place,
  deps: Deps,
  cluster: { readonly namespace: string; readonly name: string },
): Promise<boolean> {
  await sweep(deps);
  return isReady(await place.status(cluster), (await place.read(cluster)).metadata);
}

const log = pino({ level: 'silent' });

const sweep = (deps: Deps): Promise<void> =>
  reconciler.sweepAll({
    deps,
    log,
    signal: new AbortController().signal,
  } as unknown as Context<Deps>);

/**
 * Events aside: they are what people are told. The Lease, too: a sweep reads and renews it once,
 * for however many clusters.
 */
function countsOf(kube: KubeClient) {
  const counts = { reads: 0, writes: 0, statusWrites: 0 };
  for (const [call, times] of kube.counts()) {
    if (call.endsWith(' events') || call.endsWith(' leases.coordination.k8s.io')) continue;
    if (call.startsWith('get ') || call.startsWith('list ')) counts.reads += times;
    else if (call.endsWith('/status')) counts.statusWrites += times;
    else counts.writes += times;
  }
  return counts;
}
