// EtcdClusters become other versions of etcd on real ones: 3.5 to 3.6 under writers and probes, 3.6
// to 3.7, what is refused, and what an EtcdCluster that is made again does with older and newer
// data.
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { BORN_ANNOTATION, VERSION_ANNOTATION } from '../../../shared/api/etcd-peer.ts';
import { CLAIMS } from '../../../shared/stateful/parts.ts';
import { EtcdTraffic } from '../../builders/etcd-traffic.ts';
import { type Named, SCENARIO_MS } from './etcd-scene.ts';
import { MemberProbes } from './member-probes.ts';
import { place } from './shared-place.ts';

const imageOf = (version: string): string => `quay.io/coreos/etcd:v${version}`;
const OLD = { image: imageOf('3.5.35') };
const NEW = { image: imageOf('3.6.16') };
const NEXT = { image: imageOf('3.7.3') };
const OLD_OF_ONE = { ...OLD, replicas: 1 };
/** Far more than an election takes here, and less than a client would call an outage. */
const PAUSE_MAX_MS = 10_000;

afterEach(() => place.endAll());

async function addressesOf(cluster: Named): Promise<readonly string[]> {
  return (await place.pods(cluster)).map(({ status }) => String(Object(status).podIP));
}

async function marksOf(cluster: Named, annotation: string): Promise<readonly unknown[]> {
  return (await place.claims(cluster)).map(({ metadata }) => metadata.annotations?.[annotation]);
}

async function awaitRefusal(cluster: Named): Promise<string> {
  await place.wakeUntil(cluster, 'UpgradeRefused', async () =>
    (await place.condition(cluster, 'Degraded')).startsWith('True UpgradeRefused'),
  );
  return place.condition(cluster, 'Degraded');
}

/** The claims stay; the pods of the first one go before the second one starts. */
async function makeAgain(cluster: Named, spec: object): Promise<void> {
  await place.delete(cluster);
  await place.create(cluster, spec);
}

test(
  'a cluster born on 3.5 becomes 3.6 under writers and probes, and no write is lost',
  { timeout: SCENARIO_MS },
  async () => {
    const cluster: Named = { namespace: 'upgraded', name: 'etcd' };
    await place.namespace(cluster.namespace);
    // A handshake for each write would be most of the work here.
    await place.create(cluster, { ...OLD, tls: { clients: { mode: 'None' } } });
    await place.wakeUntilReady(cluster);
    const { clusterId, members = [] } = await place.status(cluster);
    const traffic = EtcdTraffic.start(await place.access(cluster), 'upgraded');
    onTestFinished(() => traffic.close());
    const probes = new MemberProbes(await addressesOf(cluster));
    await place.edit(cluster, NEW);
    await place.wakeUntilReady(cluster);
    expect(Object.keys(await probes.stop()).toSorted()).toEqual(['health', 'livez', 'readyz']);
    const { result, acknowledged, longestPauseMs } = await traffic.stop();
    expect(result).toBe('linearizable');
    expect(acknowledged).toBeGreaterThan(100);
    expect(longestPauseMs).toBeLessThan(PAUSE_MAX_MS);
    const now = await place.status(cluster);
    expect({
      id: now.clusterId,
      version: now.version,
      ids: now.members?.map(({ id }) => id),
    }).toEqual({ id: clusterId, version: '3.6.16', ids: members.map(({ id }) => id) });
    expect(await marksOf(cluster, VERSION_ANNOTATION)).toEqual(['3.6.16', '3.6.16', '3.6.16']);

    await place.edit(cluster, NEXT);
    expect(await awaitRefusal(cluster)).toContain('what a 3.5 wrote into the log of Raft');
  },
);

test(
  'one born on 3.6 becomes 3.7, and made again with the default image starts no member',
  { timeout: SCENARIO_MS },
  async () => {
    const cluster: Named = { namespace: 'newer', name: 'etcd' };
    await place.namespace(cluster.namespace);
    await place.create(cluster, { replicas: 1 });
    await place.wakeUntilReady(cluster);
    await place.edit(cluster, NEXT);
    await place.wakeUntilReady(cluster);
    expect(await marksOf(cluster, VERSION_ANNOTATION)).toEqual(['3.7.3']);
    await place.edit(cluster, NEW);
    expect(await awaitRefusal(cluster)).toContain('etcdctl downgrade enable 3.6');
    await makeAgain(cluster, { replicas: 1 });
    expect(await awaitRefusal(cluster)).toMatch(/has data of etcd 3\.7\.3.* Set image/);
    expect(await place.pods(cluster)).toEqual([]);
  },
);

test(
  'what the gate does not know to be safe is refused, and no member is restarted',
  { timeout: SCENARIO_MS },
  async () => {
    const cluster: Named = { namespace: 'refused', name: 'etcd' };
    await place.namespace(cluster.namespace);
    await place.create(cluster, OLD_OF_ONE);
    await place.wakeUntilReady(cluster);
    const pods = await place.podUids(cluster);
    await place.edit(cluster, NEXT);
    expect(await awaitRefusal(cluster)).toContain('Go through each one between them: 3.6 first');
    expect(await place.podUids(cluster)).toEqual(pods);

    await makeAgain(cluster, { replicas: 1 });
    expect(await awaitRefusal(cluster)).toMatch(/has data of etcd 3\.5\.35.* Set image/);
    expect(await place.pods(cluster)).toEqual([]);

    // As if somebody had brought the data of a cluster that is older than its claims.
    const at = { namespace: cluster.namespace, name: 'data-etcd-0' };
    const body = { metadata: { annotations: { [BORN_ANNOTATION]: null } } };
    await place.kube.patch(CLAIMS, at, { type: 'merge', body });
    await place.edit(cluster, OLD);
    await place.wakeUntilReady(cluster);
    await place.edit(cluster, NEW);
    expect(await awaitRefusal(cluster)).toContain('Restore a backup into a new EtcdCluster');
    expect((await place.status(cluster)).version).toBe('3.5.35');
  },
);

test(
  'made again it goes up by its claims, and down when etcd was told to',
  { timeout: SCENARIO_MS },
  async () => {
    const cluster: Named = { namespace: 'down', name: 'etcd' };
    await place.namespace(cluster.namespace);
    await place.create(cluster, OLD_OF_ONE);
    await place.wakeUntilReady(cluster);
    await makeAgain(cluster, OLD_OF_ONE);
    await place.wakeUntilReady(cluster);
    await place.edit(cluster, NEW);
    await place.wakeUntilReady(cluster);
    const admin = await place.client(cluster);
    await expect
      .poll(async () => admin.downgrade.validate('3.5').catch(() => undefined))
      .toBe('3.6');
    await place.edit(cluster, OLD);
    expect(await awaitRefusal(cluster)).toContain('etcdctl downgrade enable 3.5');
    await admin.downgrade.enable('3.5');
    await admin.close();
    await place.wakeUntilReady(cluster);
    expect((await place.status(cluster)).version).toBe('3.5.35');
    expect(await marksOf(cluster, VERSION_ANNOTATION)).toEqual(['3.5.35']);
  },
);
