// One node of the cluster, as its two programs: started, stopped, and lost at once with all its
// pods, as a machine whose power fails.
import { mkdir } from 'node:fs/promises';
import { killCgroup, makeChildCgroup } from '../cgroups.ts';
import type { NodeAddresses } from '../addresses.ts';
import type { InsideConfig } from './config.ts';
import { containerdSpec, importInto } from './containerd.ts';
import type { ControlPlane } from './control-plane.ts';
import { kubeletSpec } from './kubelet.ts';
import { type NodePlace, placeOf } from './place.ts';

export class Machine {
  readonly #config: InsideConfig;
  readonly #controlPlane: ControlPlane;
  readonly #place: NodePlace;

  constructor(config: InsideConfig, controlPlane: ControlPlane, addresses: NodeAddresses) {
    this.#config = config;
    this.#controlPlane = controlPlane;
    this.#place = placeOf(config, addresses);
  }

  get name(): string {
    return this.#place.name;
  }

  /** Containers need no API server, so they come up beside it. */
  async boot(apiServer: Promise<unknown>): Promise<void> {
    const { cgroup, tmpDir } = this.#place;
    for (const child of ['', '/system', '/pods'])
      await makeChildCgroup(`${cgroup}${child}`, this.#config.hierarchies);
    await mkdir(tmpDir, { recursive: true });
    const { plane } = this.#controlPlane;
    await plane.add(await containerdSpec(this.#config, this.#place));
    for (const archive of this.#config.images) await this.import(archive);
    await apiServer;
    await plane.add(await kubeletSpec(this.#config, this.#place, this.#controlPlane));
  }

  async import(archive: string): Promise<void> {
    await importInto(this.#config.parts.ctr, this.#place, archive);
  }

  /** Its pods go on, and nobody looks after them: a node whose kubelet is cut off. */
  async stop(): Promise<void> {
    const { plane } = this.#controlPlane;
    for (const name of ['kubelet', 'containerd']) await plane.part(`${this.name}/${name}`).stop();
  }

  async kill(): Promise<void> {
    const { plane } = this.#controlPlane;
    const parts = ['kubelet', 'containerd'].map((name) => plane.part(`${this.name}/${name}`));
    await Promise.all(parts.map((part) => part.kill()));
    await killCgroup(this.#place.cgroup, this.#config.hierarchies);
  }

  async start(): Promise<void> {
    const { plane } = this.#controlPlane;
    for (const name of ['containerd', 'kubelet']) await plane.part(`${this.name}/${name}`).start();
  }
}
