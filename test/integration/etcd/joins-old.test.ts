// Members of 3.5 join three of 3.3 and leave again, or stay while the old ones leave, and nobody
// who writes has to wait or sees anything else: a takeover by members that join rests on that.
import { expect, test } from 'vitest';
import { openEtcdAdmin } from '../../../shared/etcd/admin.ts';
import { askLegacy } from '../../../shared/etcd/legacy.ts';
import { EtcdTraffic } from '../../builders/etcd-traffic.ts';
import { until } from '../../builders/versioned-kind.ts';
import { EtcdCluster, type Place } from './cluster.ts';
import { settled } from './settled.ts';

const OLD = 3;

class Joining {
  readonly #cluster: EtcdCluster;
  #members: readonly Place[];

  constructor(cluster: EtcdCluster) {
    this.#cluster = cluster;
    this.#members = Array.from({ length: OLD }, (_, at) => cluster.placeOf(at));
  }

  /** As a member that votes: 3.3 knows no other. */
  async join(): Promise<Place> {
    const place = await this.#cluster.place();
    const { members } = this.#to(this.#members);
    await settled(`${place.name} to be added`, () => members.add([place.peerUrl]));
    this.#members = [...this.#members, place];
    await this.#cluster.run(place, this.#members, 'existing', 'etcd-previous');
    return place;
  }

  /** A leader hands over first. */
  async leave(place: Place): Promise<void> {
    const rest = this.#members.filter((one) => one !== place);
    const { members } = this.#to(rest);
    const known = (await members.list({ isLinearizable: true })).members;
    const idOf = (name: string | undefined) => known.find((one) => one.name === name)?.id ?? '';
    const member = this.#to([place]).at(place.endpoint);
    if ((await member.status()).leaderId === idOf(place.name)) {
      await member.moveLeader(idOf(rest.at(-1)?.name));
    }
    await settled(`${place.name} to leave`, () => members.remove(idOf(place.name)));
    this.#members = rest;
  }

  #to(places: readonly Place[]) {
    return openedFor(this.#cluster, places);
  }
}

const openedFor = (cluster: EtcdCluster, places: readonly Place[]) =>
  cluster.admin({ endpoints: places.map(({ endpoint }) => endpoint) });

test('members of 3.5 join those of 3.3, go back, join again, and are left alone', async () => {
  await using cluster = await EtcdCluster.start(OLD, {
    part: 'etcd-3-3',
    hasOldFlags: true,
    // So that those that join are sent a snapshot.
    flags: ['--snapshot-count=100'],
    isReady: async (member, signal) => (await member.clusterVersion({ signal })) !== undefined,
  });
  const old = Array.from({ length: OLD }, (_, at) => cluster.placeOf(at));
  const joining = new Joining(cluster);
  await EtcdTraffic.during('members of 3.5 among those of 3.3', openOn(old), async (traffic) => {
    await joining.leave(await joining.join());
    await traffic.untilItFlows();
    const first = old.map(({ endpoint }) => askLegacy(endpoint, undefined, { timeoutMs: 3_000 }));
    const names = old.map(({ name }) => name);
    for (const { members } of await Promise.all(first)) {
      expect(members.map(({ name }) => name).toSorted()).toEqual(names);
    }
    const fresh = [await joining.join(), await joining.join(), await joining.join()];
    traffic.reopen(openOn(fresh));
    await traffic.untilItFlows();
    for (const place of old) await joining.leave(place);
    const member = cluster.admin().at(fresh[0]?.endpoint ?? '');
    await until('version 3.5', async () => (await member.clusterVersion()) === '3.5.0');
    const { revision } = (await member.status()).header;
    const hashes = fresh.map(({ endpoint }) => cluster.admin().at(endpoint).hashKv(revision));
    expect(new Set((await Promise.all(hashes)).map(({ hash }) => hash)).size).toBe(1);
  });
});

const openOn = (places: readonly Place[]) => () =>
  openEtcdAdmin({ endpoints: places.map(({ endpoint }) => endpoint) });
