// NatsClusters without nodes: a plane whose StatefulSet controller is the real one, and pods whose
// containers are real nats-servers on loopback. Faults that only such a place has are here, too.
import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ServiceAccounts } from '../../../knative/try/local/cluster/service-accounts.ts';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { addControllerManager } from '../../../knative/try/local/plane/kube-controller-manager.ts';
import type { Plane } from '../../../knative/try/local/plane/plane.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { startShipped } from '../../builders/shipped.ts';
import { Kubelet } from './kubelet.ts';
import { type Named, NEW_IMAGE, OLD_IMAGE, Scene } from './scene.ts';

const run = promisify(execFile);

export interface PlaceOptions {
  readonly apiServerFlags?: readonly string[];
  /** Lines of `/etc/hosts` in each pod. */
  readonly hosts?: readonly string[];
}

export class Place extends Scene {
  readonly plane: Plane;
  readonly kube: KubeClient;
  readonly #kubelet: Kubelet;
  readonly #accounts: ServiceAccounts;

  private constructor(plane: Plane, kube: KubeClient, kubelet: Kubelet) {
    super();
    this.plane = plane;
    this.kube = kube;
    this.#kubelet = kubelet;
    this.#accounts = new ServiceAccounts(kube, plane, (error) => kubelet.errors.push(error));
  }

  static async start({ apiServerFlags, hosts = [] }: PlaceOptions = {}): Promise<Place> {
    const shipped = await startShipped(undefined, apiServerFlags);
    const { plane, kube } = shipped;
    try {
      const controllers = [
        'statefulset-controller',
        'garbage-collector-controller',
        'persistentvolumeclaim-protection-controller',
      ];
      await addControllerManager(plane, { controllers, featureGates: [] });
      const kubelet = new Kubelet({ plane, kube, binaries: await images(plane), hosts });
      kubelet.start();
      return new Place(plane, kube, kubelet);
    } catch (error) {
      await shipped.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.stopStarted();
    this.#accounts.close();
    await this.#kubelet.stop();
    await this.kube.close();
    // Without root a directory that was made unreadable could not be removed, here or by any plane.
    await run('chmod', ['-R', 'u+rwX', join(this.plane.dir, 'kubelet')]);
    await this.plane.stop();
  }

  kubeconfigOf(account: Named): Promise<string> {
    return this.#accounts.kubeconfigFor(`function/${account.name}`, account);
  }

  protected trouble(): string {
    return this.#kubelet.errors.map(String).slice(-3).join('; ');
  }

  /**
   * The files of this Raft group on a server cannot be read any more: it comes back with everything
   * but one stream, or consumer.
   */
  async breakGroup({ namespace }: Named, server: string, group: string): Promise<void> {
    const key = `${namespace}/${server}`;
    await this.#kubelet.hold(key);
    const dir = join(this.#kubelet.dataDir(key), 'jetstream', 'SYS', '_js_', group);
    await chmod(dir, 0);
    this.#kubelet.release(key);
  }

  /** Its process dies at once, and is not started again. */
  hold({ namespace }: Named, server: string): Promise<void> {
    return this.#kubelet.hold(`${namespace}/${server}`);
  }

  release({ namespace }: Named, server: string): void {
    this.#kubelet.release(`${namespace}/${server}`);
  }

  exec({ namespace }: Named, server: string, command: readonly string[]): Promise<void> {
    return this.#kubelet.exec(`${namespace}/${server}`, command);
  }

  addresses(cluster: Named): Promise<readonly string[]> {
    return this.serverAddresses(cluster);
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
  return {
    [NEW_IMAGE]: await copy('nats-server', 'new'),
    [OLD_IMAGE]: await copy('nats-server-previous', 'old'),
  };
}
