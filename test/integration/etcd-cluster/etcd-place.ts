// EtcdClusters without nodes: a plane whose StatefulSet controller is the real one, and pods whose
// containers are real etcds on loopback. Both functions run in this process, each with the rights
// of its own account, and are woken by hand where events do not come by themselves.
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceAccounts } from '../../../knative/try/local/cluster/service-accounts.ts';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { addControllerManager } from '../../../knative/try/local/plane/kube-controller-manager.ts';
import type { Plane } from '../../../knative/try/local/plane/plane.ts';
import type { EtcdLogin } from '../../../shared/etcd/admin/caller.ts';
import { type EtcdAdmin, openEtcdAdmin } from '../../../shared/etcd/admin.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { startShipped } from '../../builders/shipped.ts';
import { until } from '../../builders/versioned-kind.ts';
import { Kubelet, type KubeletOptions } from '../nats-cluster/kubelet.ts';
import { logOf, spoilFile, spoilLog } from '../../builders/spoil-file.ts';
import {
  CLAIMS,
  EtcdScene,
  type FunctionsOptions,
  type Named,
  PODS,
  SECRETS,
  type Waking,
} from './etcd-scene.ts';

/** The part with the program of each image. */
const IMAGES = {
  'quay.io/coreos/etcd:v3.3.27': 'etcd-3-3',
  'quay.io/coreos/etcd:v3.5.35': 'etcd-previous',
  'quay.io/coreos/etcd:v3.6.16': 'etcd',
  'quay.io/coreos/etcd:v3.7.3': 'etcd-next',
} as const;

export interface EtcdPlaceOptions
  extends FunctionsOptions, Pick<KubeletOptions, 'hosts' | 'tellHosts'> {
  /** The kubelet probes as often as pods say. */
  readonly isPunctual?: boolean;
  /** Events come by themselves. */
  readonly isWokenByEvents?: boolean;
  /** More of Kubernetes' own. */
  readonly controllers?: readonly string[];
  readonly apiServerFlags?: readonly string[];
}

export class EtcdPlace extends EtcdScene {
  readonly plane: Plane;
  readonly kube: KubeClient;
  readonly #kubelet: Kubelet;
  readonly #accounts: ServiceAccounts;
  readonly #isWokenByEvents: boolean;

  private constructor(
    { plane, kube }: Pick<EtcdPlace, 'plane' | 'kube'>,
    kubelet: Kubelet,
    { isWokenByEvents = false }: EtcdPlaceOptions,
  ) {
    super();
    this.plane = plane;
    this.kube = kube;
    this.#kubelet = kubelet;
    this.#isWokenByEvents = isWokenByEvents;
    this.#accounts = new ServiceAccounts(kube, plane, (error) => kubelet.errors.push(error));
  }

  static async start(options: EtcdPlaceOptions = {}): Promise<EtcdPlace> {
    const { isPunctual = false } = options;
    const { plane, kube } = await startShipped(undefined, options.apiServerFlags);
    const controllers = [
      'statefulset-controller',
      'garbage-collector-controller',
      'persistentvolumeclaim-protection-controller',
      ...(options.controllers ?? []),
    ];
    await addControllerManager(plane, { controllers, featureGates: [] });
    const images = join(plane.dir, 'images');
    await mkdir(images, { recursive: true });
    const binaries: Record<string, string> = {};
    for (const [image, part] of Object.entries(IMAGES)) {
      binaries[image] = join(images, part);
      await copyFile(await resolvePart(part), join(images, part));
    }
    const { hosts = [], tellHosts = async () => undefined } = options;
    const kubelet = new Kubelet({ plane, kube, binaries, isPunctual, hosts, tellHosts });
    kubelet.start();
    const place = new EtcdPlace({ plane, kube }, kubelet, options);
    await place.startFunctions(options);
    return place;
  }

  protected override events(cluster: Named): Promise<readonly Waking[]> {
    return this.#isWokenByEvents ? Promise.resolve([]) : super.events(cluster);
  }

  async stop(): Promise<void> {
    await this.stopFunctions();
    this.#accounts.close();
    await this.#kubelet.stop();
    await this.kube.close();
    await this.plane.stop();
  }

  kubeconfigOf(account: Named): Promise<string> {
    return this.#accounts.kubeconfigFor(`account/${account.name}`, account);
  }

  protected trouble(): string {
    return this.#kubelet.errors.map(String).slice(-3).join('; ');
  }

  /** The disk under it dies: its claim stays, and its process with it never comes back. */
  async loseVolume({ namespace }: Named, peer: string): Promise<void> {
    await this.#kubelet.hold(`${namespace}/${peer}-0`);
    const target = { namespace, name: `data-${peer}`, subresource: 'status' };
    const body = { status: { phase: 'Lost' } };
    await this.kube.patch(CLAIMS, target, { type: 'merge', body });
  }

  async deleteSecret({ namespace }: Named, name: string): Promise<void> {
    const found = await this.kube.get(SECRETS, { namespace, name });
    if (found === null) throw new Error(`there is no ${name}`);
    await this.kube.delete(SECRETS, { namespace, name }, { uid: found.metadata.uid });
  }

  /** Where the data of a claim is while no pod of a member has it. */
  claimDir({ namespace }: Named, claim: string): string {
    return this.#kubelet.claimDir(namespace, claim);
  }

  async deletePod({ namespace }: Named, name: string): Promise<string> {
    const found = await this.kube.get(PODS, { namespace, name });
    if (found === null) throw new Error(`there is no ${name}`);
    const { uid } = found.metadata;
    await this.kube.delete(PODS, { namespace, name }, { uid });
    return uid;
  }

  /** A disk that does not outlive its node: the same pod goes on, on an empty volume. */
  async wipe({ namespace }: Named, peer: string): Promise<void> {
    const key = `${namespace}/${peer}-0`;
    await this.#kubelet.hold(key);
    await rm(join(this.#kubelet.dataDir(key, 'var/lib/etcd'), 'data'), { recursive: true });
    this.#kubelet.release(key);
  }

  /** How often the container of its pod was started. */
  starts({ namespace }: Named, peer: string): number {
    return this.#kubelet.startsOf(`${namespace}/${peer}-0`);
  }

  /** A disk gives back other bytes than it was given: all that is there of a text, once it is. */
  async damage({ namespace }: Named, peer: string, text: string): Promise<void> {
    const key = `${namespace}/${peer}-0`;
    const file = join(this.#kubelet.dataDir(key, 'var/lib/etcd'), 'data/member/snap/db');
    await until('the text to be in the file', async () => (await readFile(file)).includes(text));
    await this.#kubelet.hold(key);
    const bytes = await readFile(file);
    for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) {
      bytes[at] = (bytes[at] ?? 0) ^ 1;
    }
    await writeFile(file, bytes);
    this.#kubelet.release(key);
  }

  /** A disk gives back other bytes than it was given, in all of the log, or of the database. */
  async spoil({ namespace }: Named, peer: string, what: 'log' | 'database'): Promise<void> {
    const key = `${namespace}/${peer}-0`;
    await this.#kubelet.hold(key);
    const member = join(this.#kubelet.dataDir(key, 'var/lib/etcd'), 'data/member');
    if (what === 'log') await spoilLog(await logOf(member));
    else await spoilFile(join(member, 'snap/db'));
    this.#kubelet.release(key);
  }

  /** As a client that has mounted the Secret which is made for clients. */
  async client(cluster: Named, login?: EtcdLogin): Promise<EtcdAdmin> {
    return (await this.access(cluster, login))();
  }

  /** How each of several such clients connects. */
  async access(cluster: Named, login?: EtcdLogin): Promise<() => EtcdAdmin> {
    const { namespace, name } = cluster;
    const tls = await this.clientTls(cluster);
    const endpoints = (await this.pods(cluster)).map(({ metadata, status }) => ({
      url: `${tls === undefined ? 'http' : 'https'}://${String(Object(status).podIP)}:2379`,
      serverName: `${metadata.name}.${name}-headless.${namespace}.svc`,
    }));
    return () => openEtcdAdmin({ endpoints, login, tls });
  }
}
