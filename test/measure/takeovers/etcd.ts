// `npm run measure -- takeover-etcd` and `takeover-join`: three members of 3.3.27 in pods, two of
// them on claims, with many keys, leases, and clients at work all the time, are led over to an
// EtcdCluster.
import { openEtcdAdmin } from '../../../shared/etcd/admin.ts';
import { CLAIMS } from '../../../shared/stateful/parts.ts';
import { EtcdTraffic } from '../../builders/etcd-traffic.ts';
import { defineLegacyEtcd, LegacyEtcd } from '../../builders/legacy-etcd.ts';
import { base64, LegacyClient } from '../../integration/takeover/legacy-client.ts';
import { Writer } from '../../integration/takeover/writer.ts';
import { OldKeys } from './old-keys.ts';
import { onCluster, type Print, Scene } from './scene.ts';

const NAMESPACE = 'shop';
const OLD = ['old-a', 'old-b', 'old-c'];
const CLIENT_PORT = 2379;
const STORED = 'stored/';
const RIGHTS = [['takeover', '--into', 'old-2'], ['etcd-cluster'], ['etcd-peer']];
/** Many keys at once. */
const BULK_WITHIN_MS = 30_000;

/** Writers wait meanwhile, and a client that is refused goes to whom the Service leads by then. */
export const takeoverEtcd = (keys: number, print: Print): Promise<void> =>
  onCluster(print, async (kube) => {
    const rights = [...RIGHTS, ['etcd-backup'], ['etcd-restore']];
    const left = await Left.of(new Scene(kube, NAMESPACE, print), keys, rights);
    const own = new LegacyClient(undefined, 'old-client');
    const writer = new Writer(own, () => {
      // Its next request has a connection of its own.
      own.close();
      return Promise.resolve(left.url);
    });
    writer.start();
    try {
      await left.leadOver({});
    } finally {
      await writer.stop();
    }
    const { written, longestPauseMs } = writer;
    const found = await left.read('written/');
    const lost = written.filter(({ key }) => !found.has(base64(key)));
    print(
      `${written.length} writes acknowledged, ${lost.length} lost, none for ${longestPauseMs} ms`,
    );
    await left.compare(print);
  });

/** Nobody waits, and what two writers and two readers see is the history of one store. */
export const takeoverJoin = (keys: number, print: Print): Promise<void> =>
  onCluster(print, async (kube) => {
    const left = await Left.of(new Scene(kube, NAMESPACE, print), keys, RIGHTS);
    const open = () => openEtcdAdmin({ endpoints: [{ url: left.url }] });
    await EtcdTraffic.during('Join', open, () => left.leadOver({ mode: 'Join' }));
    await left.compare(print);
  });

/** Members that an operator left, and what was stored there. */
class Left {
  readonly url: string;
  readonly #scene: Scene;
  readonly #old: LegacyEtcd;
  #before: ReadonlyMap<string, string> = new Map();

  private constructor(scene: Scene, old: LegacyEtcd, url: string) {
    this.#scene = scene;
    this.#old = old;
    this.url = url;
  }

  static async of(
    scene: Scene,
    keys: number,
    rights: readonly (readonly string[])[],
  ): Promise<Left> {
    const { kube } = scene;
    await scene.prepare('etcd-operator', rights);
    await defineLegacyEtcd(kube);
    const old = new LegacyEtcd(kube, NAMESPACE, 'old');
    const [seed = '', ...others] = OLD;
    await old.create([{ name: seed }, ...others.map((name) => ({ name, claim: name }))]);
    await scene.podsRun(OLD);
    const left = new Left(
      scene,
      old,
      `http://${await scene.clusterIp('old-client')}:${CLIENT_PORT}`,
    );
    const client = new LegacyClient(undefined, 'old-client', BULK_WITHIN_MS);
    const isServed = () =>
      client.put(left.url, 'first', '').then(
        () => true,
        () => false,
      );
    await scene.podsBring('the old members to be a cluster', isServed);
    await new OldKeys(client, left.url, STORED).fill(keys);
    client.close();
    left.#before = await left.read(STORED);
    return left;
  }

  async leadOver(more: object): Promise<void> {
    await this.#old.takeOver('over', more);
    await this.#scene.carryOut('over');
  }

  /** The connection is its own: those of before end with the old members. */
  async read(prefix: string): Promise<ReadonlyMap<string, string>> {
    const client = new LegacyClient(undefined, 'old-client', BULK_WITHIN_MS);
    try {
      return await new OldKeys(client, this.url, prefix).read();
    } finally {
      client.close();
    }
  }

  async compare(print: Print): Promise<void> {
    const [before, now] = [this.#before, await this.read(STORED)];
    const all = new Set([...before.keys(), ...now.keys()]);
    const differing = [...all].filter((key) => before.get(key) !== now.get(key));
    print(`${differing.length} of ${before.size} keys differ`);
    const { items } = await this.#scene.kube.list(CLAIMS, { namespace: NAMESPACE });
    const kept = items.filter(({ metadata }) => OLD.includes(metadata.name));
    print(`claims kept without an owner: ${kept.filter(isFree).length} of ${OLD.length - 1}`);
  }
}

const isFree = ({ metadata }: { readonly metadata: { readonly ownerReferences?: unknown } }) =>
  metadata.ownerReferences === undefined;
