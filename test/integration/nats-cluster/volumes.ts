// A volume for each claim: a directory, where the data of its pod is while no pod has it.
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { Followed } from './followed.ts';
import { CLAIMS } from './scene.ts';

interface ClaimStatus {
  readonly phase?: string;
}

export class Volumes {
  readonly #claims: Followed;
  readonly #kube: KubeClient;
  readonly #dir: string;
  /** Claims that have one, by uid: the watch says so later, and by then it may hold something. */
  readonly #bound = new Set<string>();

  constructor(kube: KubeClient, dir: string, onChange: () => void) {
    this.#kube = kube;
    this.#dir = dir;
    this.#claims = new Followed(onChange);
  }

  follow(signal: AbortSignal): Promise<void> {
    return this.#claims.follow(this.#kube, CLAIMS, signal);
  }

  dirOf(namespace: string, claim: string): string {
    return join(this.#dir, `${namespace}_${claim}`);
  }

  /** A new claim has a new volume. */
  async bind(): Promise<void> {
    for (const { metadata, status } of this.#claims.all()) {
      const { name, namespace = '', uid } = metadata;
      if ((status as ClaimStatus)?.phase === 'Bound' || this.#bound.has(uid)) continue;
      const dir = this.dirOf(namespace, name);
      await rm(dir, { recursive: true, force: true });
      await mkdir(dir, { recursive: true });
      const body = { status: { phase: 'Bound' } };
      const target = { name, namespace, subresource: 'status' };
      await this.#kube.patch(CLAIMS, target, { type: 'merge', body });
      this.#bound.add(uid);
    }
  }

  /** As the scheduler sees it: a pod whose claim is about to go gets no node. */
  async isEnding(namespace: string, name: string): Promise<boolean> {
    const claim = await this.#kube.get(CLAIMS, { namespace, name });
    return claim?.metadata.deletionTimestamp !== undefined;
  }

  /** Asks the API server: the watch of claims may be behind that of pods. */
  async has(namespace: string, name: string): Promise<boolean> {
    const claim = await this.#kube.get(CLAIMS, { namespace, name });
    return this.#bound.has(claim?.metadata.uid ?? '');
  }
}
