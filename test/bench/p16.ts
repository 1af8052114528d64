// P16: the longest time that a writer waits while an EtcdCluster goes from 3.6.16 to 3.7.3, against
// the rolling update of a plain StatefulSet. Members are real etcds as processes, so that what a
// kubelet and a network take to tell of a change is on neither side.
import type { EtcdSettings } from '../../shared/api/etcd-cluster.ts';
import type { EtcdPlace } from '../integration/etcd-cluster/etcd-place.ts';
import type { Named } from '../integration/etcd-cluster/etcd-scene.ts';
import { PlainSet } from './etcd/plain-set.ts';
import { startShippedPlace } from './etcd/shipped-place.ts';
import { ALLOWED, allowedPause, pausedBy } from './etcd/pauses.ts';
import { createOurs, defaultSettings, deleteOurs, OURS, PLAIN, urlsOf } from './etcd/sides.ts';
import type { Bench, Sample } from './runner.ts';

const NAMESPACE = 'p16';
const NEXT = 'quay.io/coreos/etcd:v3.7.3';
const VOTERS = 3;
/** Made together, since each waits for etcd most of the time. */
const MADE_AT_ONCE = 4;

const lower = { unit: 'ms', better: 'lower', sample: 'pauseMs', control: 'writeMs' } as const;

export const bench: Bench = {
  id: 'P16',
  title: 'the longest pause of writes while an etcd of three is upgraded',
  pairs: 5,
  figures: [
    { ...lower, name: 'upgrade', ours: OURS, against: PLAIN, limit: 0.5 },
    { ...lower, name: 'upgrade, at most', ours: OURS, against: ALLOWED, limit: 1 },
  ],
  open: async () => {
    const place = await startShippedPlace();
    try {
      const settings = await defaultSettings(place);
      await place.namespace(NAMESPACE);
      const clusters = new Clusters(place);
      const sides = [
        { name: OURS, run: () => upgraded(place, clusters) },
        { name: PLAIN, run: () => upgradedPlain(place, settings, clusters.nextName()) },
        { name: ALLOWED, run: async () => allowedPause(settings) },
      ];
      return { sides, close: () => place.stop() };
    } catch (error) {
      await place.stop();
      throw error;
    }
  },
};

/** EtcdClusters that are Ready for a run. */
class Clusters {
  readonly #place: EtcdPlace;
  readonly #ready: Named[] = [];
  #names = 0;

  constructor(place: EtcdPlace) {
    this.#place = place;
  }

  nextName(): Named {
    this.#names += 1;
    return { namespace: NAMESPACE, name: `etcd${this.#names}` };
  }

  async next(): Promise<Named> {
    if (this.#ready.length === 0) this.#ready.push(...(await this.#make(MADE_AT_ONCE)));
    const next = this.#ready.pop();
    if (next === undefined) throw new Error('no EtcdCluster is left');
    return next;
  }

  #make(number: number): Promise<readonly Named[]> {
    const making = Array.from({ length: number }, async () => {
      const at = this.nextName();
      await createOurs(this.#place, at, VOTERS);
      await this.#place.wakeUntilReady(at);
      return at;
    });
    return Promise.all(making);
  }
}

async function upgraded(place: EtcdPlace, clusters: Clusters): Promise<Sample> {
  const at = await clusters.next();
  const sample = await pausedBy(urlsOf(await place.pods(at)), async () => {
    await place.edit(at, { image: NEXT });
    await place.wakeUntilReady(at);
  });
  await deleteOurs(place, at);
  return sample;
}

async function upgradedPlain(
  { kube }: EtcdPlace,
  settings: EtcdSettings,
  at: Named,
): Promise<Sample> {
  const set = new PlainSet(kube, at, settings, VOTERS);
  await set.create();
  await set.untilReady();
  const sample = await pausedBy(urlsOf(await set.pods()), async () => {
    await set.changeImage(NEXT);
    await set.untilReady();
  });
  await set.delete();
  return sample;
}
