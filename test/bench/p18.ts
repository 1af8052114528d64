// P18: what a look at an etcd cluster at rest costs the API server, by both of its functions
// together, against a look of nats-cluster at a NATS cluster of as many servers.
import { pino } from 'pino';
import { Deps } from '../../functions/etcd-cluster/deps.ts';
import { reconciler } from '../../functions/etcd-cluster/reconciler.ts';
import { Deps as PeerDeps } from '../../functions/etcd-peer/deps.ts';
import { reconciler as peerReconciler } from '../../functions/etcd-peer/reconciler.ts';
import { Deps as NatsDeps } from '../../functions/nats-cluster/deps.ts';
import { reconciler as natsReconciler } from '../../functions/nats-cluster/reconciler.ts';
import { systemClock } from '../../shared/clock.ts';
import { openEtcdAdmin } from '../../shared/etcd/admin.ts';
import type { Context } from '../../shared/function/define.ts';
import { type KubeClient, openKube } from '../../shared/kube/client.ts';
import { openSystem } from '../../shared/nats/system.ts';
import { until } from '../builders/versioned-kind.ts';
import { EtcdPlace } from '../integration/etcd-cluster/etcd-place.ts';
import { Place } from '../integration/nats-cluster/place.ts';
import { isReady, NEW_IMAGE } from '../integration/nats-cluster/scene.ts';
import type { Bench, Sample } from './runner.ts';

const OURS = 'etcd-cluster and etcd-peer';
const PEER = 'nats-cluster';
const WORK_MS = 10_000;
const READY_WITHIN_MS = 180_000;
const LOOKS = 5;
const CLUSTER = { namespace: 'p18', name: 'at-rest' };

const lower = { ours: OURS, against: PEER, better: 'lower', control: 'reads' } as const;

export const bench: Bench = {
  id: 'P18',
  title: 'a look at an etcd cluster of three members at rest',
  pairs: 5,
  figures: [
    { ...lower, name: 'reads', unit: '', limit: 1 },
    { ...lower, name: 'writes', unit: '', limit: 0 },
  ],
  open: async () => {
    const etcd = await EtcdPlace.start();
    const nats = await Place.start();
    const close = async () => void (await Promise.all([etcd.stop(), nats.stop()]));
    try {
      return { sides: [await etcdSide(etcd), await natsSide(nats)], close };
    } catch (error) {
      await close();
      throw error;
    }
  },
};

const lease = (name: string) => ({ namespace: 'ballast-system', name, sweepSeconds: 60 });

async function etcdSide(place: EtcdPlace) {
  await place.namespace(CLUSTER.namespace);
  await place.create(CLUSTER, {});
  await place.wakeUntilReady(CLUSTER);
  const { kubeconfigPath } = place.plane;
  const opened = (name: string) => {
    const kube = openKube({ kubeconfigPath, userAgent: name, fieldManager: `ballast-${name}` });
    return { kube, clock: systemClock, workMs: WORK_MS, lease: lease(name) };
  };
  const deps = new Deps({ ...opened('etcd-cluster'), openAdmin: openEtcdAdmin });
  const peerDeps = new PeerDeps(opened('etcd-peer'));
  const look = async (): Promise<void> => {
    await reconciler.sweepAll(contextOf(deps));
    await peerReconciler.sweepAll(contextOf(peerDeps));
  };
  // The first looks read all parts, and are the last to write.
  await look();
  await look();
  return { name: OURS, run: () => countLooks([deps.kube, peerDeps.kube], look) };
}

async function natsSide(place: Place) {
  await place.namespace(CLUSTER.namespace);
  const { kubeconfigPath } = place.plane;
  const identity = { userAgent: PEER, fieldManager: 'ballast-nats-cluster' };
  const kube = openKube({ kubeconfigPath, ...identity });
  const options = { kube, openSystem, clock: systemClock, workMs: WORK_MS, lease: lease(PEER) };
  const deps = new NatsDeps(options);
  await place.create(CLUSTER, { image: NEW_IMAGE });
  const look = (): Promise<void> => natsReconciler.sweepAll(contextOf(deps));
  const isReadyNow = async (): Promise<boolean> => {
    await look();
    return isReady(await place.status(CLUSTER), (await place.read(CLUSTER)).metadata);
  };
  await until('the NATS cluster to be Ready', isReadyNow, READY_WITHIN_MS);
  await look();
  // The denominator of a ratio cannot be 0, so none is counted as 1.
  const run = async (): Promise<Sample> => ({ ...(await countLooks([kube], look)), writes: 1 });
  return { name: PEER, run };
}

const log = pino({ level: 'silent' });

const contextOf = <Deps>(deps: Deps): Context<Deps> =>
  ({ deps, log, signal: new AbortController().signal }) as unknown as Context<Deps>;

async function countLooks(
  clients: readonly KubeClient[],
  look: () => Promise<void>,
): Promise<Sample> {
  for (const kube of clients) kube.resetCounts();
  for (let looks = 0; looks < LOOKS; looks += 1) await look();
  const calls = clients.flatMap((kube) => [...kube.counts()]);
  // A sweep reads and renews its Lease once, for however many clusters.
  const counted = calls.filter(([call]) => !call.endsWith(' leases.coordination.k8s.io'));
  const isRead = ([call]: readonly [string, number]) => /^(get|list) /.test(call);
  const sum = (some: readonly (readonly [string, number])[]): number =>
    some.reduce((total, [, times]) => total + times, 0) / LOOKS;
  return {
    reads: sum(counted.filter(isRead)),
    writes: sum(counted.filter((call) => !isRead(call))),
  };
}
