// NatsClusters without nodes: a plane whose StatefulSet controller is the real one, and pods whose
// containers are real nats-servers on loopback. Faults that only such a place has are here, too.
import { chmod, copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { applyObjects } from '../../../knative/local/cluster/apply-objects.ts';
import { ServiceAccounts } from '../../../knative/local/cluster/service-accounts.ts';
import { loadWiring } from '../../../knative/local/manifests/load.ts';
import { resolvePart } from '../../../knative/local/parts/resolve.ts';
import { addControllerManager } from '../../../knative/local/plane/kube-controller-manager.ts';
import { type Plane, startPlane } from '../../../knative/local/plane/plane.ts';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import { Kubelet } from './kubelet.ts';
import { CLAIMS, DEFAULT_IMAGE, type Named, NEW_IMAGE, OLD_IMAGE, Scene } from './scene.ts';

const KNATIVE = new URL('../../../knative', import.meta.url).pathname;

export class Place extends Scene {
  readonly plane: Plane;
  readonly kube: KubeClient;
  readonly kubelet: Kubelet;
  readonly #accounts: ServiceAccounts;

  private constructor(plane: Plane, kube: KubeClient, kubelet: Kubelet) {
    super();
    this.plane = plane;
    this.kube = kube;
    this.kubelet = kubelet;
    this.#accounts = new ServiceAccounts(kube, plane, (error) => kubelet.errors.push(error));
  }

  static async start(): Promise<Place> {
    const plane = await startPlane({ parts: ['etcd', 'kube-apiserver'] });
    try {
      const { kubeconfigPath } = plane;
      const kube = openKube({ kubeconfigPath, userAgent: 'test', fieldManager: 'test' });
      await applyObjects(kube, (await loadWiring(KNATIVE)).objects);
      const controllers = [
        'statefulset-controller',
        'garbage-collector-controller',
        'persistentvolumeclaim-protection-controller',
      ];
      await addControllerManager(plane, { controllers, featureGates: [] });
      const kubelet = new Kubelet({ plane, kube, binaries: await images(plane) });
      kubelet.start();
      return new Place(plane, kube, kubelet);
    } catch (error) {
      await plane.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.stopFunctions();
    this.#accounts.close();
    await this.kubelet.stop();
    await this.kube.close();
    await this.plane.stop();
  }

  protected kubeconfigOf(account: Named): Promise<string> {
    return this.#accounts.kubeconfigFor(`function/${account.name}`, account);
  }

  protected trouble(): string {
    return this.kubelet.errors.map(String).slice(-3).join('; ');
  }

  kill({ namespace }: Named, server: string): Promise<void> {
    return this.kubelet.kill(`${namespace}/${server}`);
  }

  async loseVolume({ namespace }: Named, server: string): Promise<void> {
    await this.kubelet.kill(`${namespace}/${server}`, { isHeld: true });
    const target = { namespace, name: `data-${server}`, subresource: 'status' };
    const body = { status: { phase: 'Lost' } };
    await this.kube.patch(CLAIMS, target, { type: 'merge', body });
  }

  /**
   * What a server has of this Raft group cannot be read any more: it comes back with everything but
   * one stream, or consumer.
   */
  async breakGroup({ namespace }: Named, server: string, group: string): Promise<void> {
    const key = `${namespace}/${server}`;
    await this.kubelet.kill(key, { isHeld: true });
    const dir = join(this.kubelet.dataDir(key), 'jetstream', 'SYS', '_js_', group);
    await chmod(dir, 0);
    this.kubelet.release(key);
  }

  /** Each server has one of its own, which it keeps. */
  addresses({ namespace, name }: Named, count: number): Promise<readonly string[]> {
    const ips = Array.from({ length: count }, (_, ordinal) =>
      this.kubelet.ipOf(`${namespace}/${name}-${ordinal}`),
    );
    return Promise.resolve(ips.flatMap((ip) => (ip === undefined ? [] : [`${ip}:4222`])));
  }
}

/** One copy of each binary beside the pods, to be linked into their roots. */
async function images(plane: Plane): Promise<Readonly<Record<string, string>>> {
  const dir = join(plane.dir, 'images');
  await mkdir(dir, { recursive: true });
  const copy = async (part: Parameters<typeof resolvePart>[0], name: string): Promise<string> => {
    const path = join(dir, name);
    await copyFile(await resolvePart(part), path);
    return path;
  };
  const newest = await copy('nats-server', 'new');
  return {
    [DEFAULT_IMAGE]: newest,
    [NEW_IMAGE]: newest,
    [OLD_IMAGE]: await copy('nats-server-previous', 'old'),
  };
}
