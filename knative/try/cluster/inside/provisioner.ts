// Makes a directory for each claim of the cluster's storage class, on the node where its first pod
// will run, lets it grow on request, and removes it with the claim.
import { mkdir, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeClient } from '../../../../shared/kube/client.ts';
import type { KubeObject, ResourceRef } from '../../../../shared/kube/objects.ts';
import { pathToRemove, stepForClaim } from './volume.ts';

const CORE = { group: '', version: 'v1' } as const;
const CLAIMS = { ...CORE, resource: 'persistentvolumeclaims' } as const;
const VOLUMES = { ...CORE, resource: 'persistentvolumes' } as const;

/** Refused once, it is most likely refused again at once. */
const RETRY_AFTER_MS = 1_000;
const TRIES = 5;

export class Provisioner {
  readonly #kube: KubeClient;
  readonly #nodesDir: string;
  readonly #onError: (error: unknown) => void;
  readonly #end = new AbortController();

  constructor(kube: KubeClient, nodesDir: string, onError: (error: unknown) => void) {
    this.#kube = kube;
    this.#nodesDir = nodesDir;
    this.#onError = onError;
  }

  start(): void {
    this.#follow(CLAIMS, (claim) => this.#serve(claim)).catch(this.#onError);
    this.#follow(VOLUMES, (volume) => this.#reclaim(volume)).catch(this.#onError);
  }

  async #follow(ref: ResourceRef, take: (object: KubeObject) => Promise<void>): Promise<void> {
    const { signal } = this.#end;
    for await (const event of this.#kube.watch(ref, { from: 'initial-events', signal })) {
      if (!('object' in event) || event.type === 'DELETED') continue;
      void this.#insist(() => take(event.object));
    }
  }

  async #insist(work: () => Promise<void>): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await work();
      } catch (error) {
        if (tries === TRIES) return this.#onError(error);
        await sleep(RETRY_AFTER_MS);
      }
    }
  }

  async #serve(claim: KubeObject): Promise<void> {
    const step = stepForClaim(claim, this.#nodesDir);
    if (step.do === 'provision') {
      await mkdir(step.path, { recursive: true, mode: 0o755 });
      await this.#kube.create(VOLUMES, step.volume);
    }
    if (step.do === 'grow') {
      const capacity = { capacity: { storage: step.storage } };
      const { namespace = '', name } = claim.metadata;
      await this.#kube.patch(VOLUMES, { name: step.volumeName }, mergePatch({ spec: capacity }));
      const status = { namespace, name, subresource: 'status' };
      await this.#kube.patch(CLAIMS, status, mergePatch({ status: capacity }));
    }
  }

  async #reclaim(volume: KubeObject): Promise<void> {
    const path = pathToRemove(volume, this.#nodesDir);
    if (path === undefined) return;
    await rm(path, { recursive: true, force: true });
    const { name, uid } = volume.metadata;
    await this.#kube.delete(VOLUMES, { name }, { uid });
  }
}

const mergePatch = (body: Readonly<Record<string, unknown>>) => ({ type: 'merge', body }) as const;
