// An EtcdCluster whose members join three of etcd 3.3.27 that serve clients. The test is the
// takeover: it adds members by the old ones, and lets those leave.
import { expect, test } from 'vitest';
import { ETCD_CLUSTERS, type EtcdClusterStatus } from '../../../shared/api/etcd-cluster.ts';
import { JOINS_ANNOTATION, joinsText } from '../../../shared/api/etcd-joins.ts';
import { memberPeerUrl } from '../../../shared/api/etcd-names.ts';
import { CLUSTER_ID_ANNOTATION } from '../../../shared/api/etcd-peer.ts';
import { hexOf } from '../../../shared/etcd/admin/ids.ts';
import { NETWORK_POLICIES } from '../../../shared/stateful/parts.ts';
import { EtcdTraffic } from '../../builders/etcd-traffic.ts';
import { SCENARIO_MS } from './etcd-scene.ts';
import { OldPods } from './old-pods.ts';
import { place } from './shared-place.ts';

const namespace = 'joins';
const name = 'etcd';
const cluster = { namespace, name };
const PEERS = ['etcd-0', 'etcd-1', 'etcd-2'];
const KEYS = 300;

const urlOf = (peer: string): string =>
  memberPeerUrl({ namespace, cluster: name, peer }, { mode: 'None' });

const spec = {
  image: 'quay.io/coreos/etcd:v3.5.35',
  storage: { size: '10Gi' },
  tls: { clients: { mode: 'None' }, peers: { mode: 'None' } },
};

const isReady = ({ members = [] }: EtcdClusterStatus, peer: string): boolean =>
  members.some((one) => one.name === peer && one.ready === true);

/** Whom its policy lets in to the port for members. */
async function letIn(): Promise<string> {
  const policy = await place.kube.get(NETWORK_POLICIES, cluster);
  return JSON.stringify(Object(policy?.['spec']).ingress);
}

/** As the takeover makes it. */
async function create(old: OldPods, id: string): Promise<void> {
  const joins = joinsText(old.members, namespace);
  if (typeof joins !== 'string') throw new Error(joins.message);
  await place.kube.create(ETCD_CLUSTERS, {
    apiVersion: `${ETCD_CLUSTERS.group}/${ETCD_CLUSTERS.version}`,
    kind: 'EtcdCluster',
    metadata: {
      ...cluster,
      annotations: { [CLUSTER_ID_ANNOTATION]: id, [JOINS_ANNOTATION]: joins },
    },
    spec,
  });
}

test(
  'members join old ones, these leave, and who writes waits for nobody',
  async () => {
    await place.namespace(namespace);
    const old = new OldPods(place, namespace);
    const id = hexOf(await old.start());
    const before = old.open();
    for (let at = 0; at < KEYS; at += 1) await before.keys.put(`before/${at}`, `value ${at}`);
    await before.close();
    await EtcdTraffic.during('members that join an EtcdCluster', old.open, async (traffic) => {
      await old.add(urlOf('etcd-0'));
      await create(old, id);
      await place.wakeUntil(cluster, 'the first to join', (status) => {
        return status.clusterId !== undefined && isReady(status, 'etcd-0');
      });
      expect((await place.status(cluster)).clusterId).toBe(id);
      for (const peer of PEERS.slice(1)) {
        await old.add(urlOf(peer));
        await place.wakeUntil(cluster, `${peer} to join`, (status) => isReady(status, peer));
      }
      expect(await place.condition(cluster, 'Ready')).toMatch(/^False Joining: .*old-0000/);
      expect(await place.condition(cluster, 'Degraded')).toMatch(/^False/);
      expect(await letIn()).toContain('"etcd_cluster":"old"');
      const fresh = await place.access(cluster);
      traffic.reopen(fresh);
      await traffic.untilItFlows();
      for (const one of old.members) await old.remove(one.name, fresh);
      await place.wakeUntilReady(cluster);
    });
    const { clusterId, joining, bootstrap, members } = await place.status(cluster);
    expect({ clusterId, joining, bootstrap }).toEqual({ clusterId: id });
    expect(members).toMatchObject(PEERS.map((peer) => ({ name: peer, ready: true })));
    expect(await letIn()).not.toContain('etcd_cluster":"old"');
    const client = await place.client(cluster);
    const found = await Promise.all(
      Array.from({ length: KEYS }, (_, at) => client.keys.get(`before/${at}`)),
    );
    await client.close();
    expect(found.map(({ found: one }) => one?.value.toString())).toEqual(
      found.map((_, at) => `value ${at}`),
    );
    await place.edit(cluster, { image: 'quay.io/coreos/etcd:v3.6.16' });
    await place.wakeUntil(cluster, '3.6 to be refused', ({ conditions = [] }) =>
      conditions.some(({ type, reason }) => type === 'Degraded' && reason === 'UpgradeRefused'),
    );
    await place.delete(cluster);
  },
  SCENARIO_MS,
);
