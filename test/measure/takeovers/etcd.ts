// `npm run measure -- takeover-etcd`: three members of 3.3.27 in pods, two of them on claims, with
// many keys, leases, and a client that writes all the time, are led over to an EtcdCluster.
import { CLAIMS } from '../../../shared/stateful/parts.ts';
import { defineLegacyEtcd, LegacyEtcd } from '../../builders/legacy-etcd.ts';
import { base64, LegacyClient } from '../../integration/takeover/legacy-client.ts';
import { Writer } from '../../integration/takeover/writer.ts';
import { OldKeys } from './old-keys.ts';
import { onCluster, type Print, Scene } from './scene.ts';

const NAMESPACE = 'shop';
const OLD = ['old-a', 'old-b', 'old-c'];
const CLIENT_PORT = 2379;

export const takeoverEtcd = (keys: number, print: Print): Promise<void> =>
  onCluster(print, async (kube) => {
    const scene = new Scene(kube, NAMESPACE, print);
    const functions = ['takeover', 'etcd-backup', 'etcd-restore', 'etcd-cluster', 'etcd-peer'];
    await scene.prepare(
      'etcd-operator',
      functions.map((name) => [name]),
    );
    await defineLegacyEtcd(kube);
    const old = new LegacyEtcd(kube, NAMESPACE, 'old');
    const [seed = '', ...others] = OLD;
    await old.create([{ name: seed }, ...others.map((name) => ({ name, claim: name }))]);
    await scene.podsRun(OLD);
    const url = `http://${await scene.clusterIp('old-client')}:${CLIENT_PORT}`;
    const client = new LegacyClient(undefined, 'old-client');
    const stored = new OldKeys(client, url, 'stored/');
    await stored.fill(keys);
    const before = await stored.read();
    const own = new LegacyClient(undefined, 'old-client');
    const writer = new Writer(own, () => {
      // Its next request has a connection of its own, to whom the Service leads by then.
      own.close();
      return Promise.resolve(url);
    });
    writer.start();
    try {
      await old.takeOver('over');
      await scene.carryOut('over');
    } finally {
      await writer.stop();
    }
    const { written, longestPauseMs } = writer;
    const found = await new OldKeys(client, url, 'written/').read();
    const lost = written.filter(({ key }) => !found.has(base64(key)));
    print(
      `${written.length} writes acknowledged, ${lost.length} lost, none for ${longestPauseMs} ms`,
    );
    print(`${await stored.differing(before)} of ${before.size} keys differ`);
    const { items } = await kube.list(CLAIMS, { namespace: NAMESPACE });
    const kept = items.filter(({ metadata }) => OLD.includes(metadata.name));
    print(`claims kept without an owner: ${kept.filter(isFree).length} of ${others.length}`);
    client.close();
  });

const isFree = ({ metadata }: { readonly metadata: { readonly ownerReferences?: unknown } }) =>
  metadata.ownerReferences === undefined;
