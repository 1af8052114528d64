// Brings Knative up on a cluster: definitions, what Kubernetes knows, webhooks, and what only they
// admit. Resolves when every deployment serves and every webhook is wired, and says so as it goes.
import { type Clock, systemClock } from '../../../../shared/clock.ts';
import type { KubeClient } from '../../../../shared/kube/client.ts';
import { isKubeError } from '../../../../shared/kube/errors.ts';
import type { Manifest } from '../../../../shared/kube/objects.ts';
import { timestamp } from '../../../../shared/kube/timestamp.ts';
import { inParallel } from '../../local/cluster/in-parallel.ts';
import { readyDeployments, wiredWebhooks } from './ready.ts';
import type { KnativeManifests } from './render.ts';

export interface InstallOptions {
  readonly manifests: KnativeManifests;
  /** Resolves when the nodes have every image: a pod before that waits a minute for a registry. */
  readonly images: Promise<unknown>;
  /** Told once for each deployment, when it serves. */
  readonly onReady: (readyName: string) => void;
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  readonly readyWithinMs?: number;
}

/** As many as the client has connections. */
const APPLIES_AT_ONCE = 8;
/** A start takes a minute on an idle machine with two cores; a busy one gets several. */
const READY_WITHIN_MS = 600_000;
const LOOK_EVERY_MS = 250;
const DEPLOYMENT = 'Deployment';

export async function installKnative(kube: KubeClient, options: InstallOptions): Promise<void> {
  const { clock = systemClock, readyWithinMs = READY_WITHIN_MS } = options;
  await new Installation(kube, options, clock, clock.nowMs() + readyWithinMs).run();
}

class Installation {
  readonly #kube: KubeClient;
  readonly #options: InstallOptions;
  readonly #clock: Clock;
  readonly #endsAtMs: number;

  constructor(kube: KubeClient, options: InstallOptions, clock: Clock, endsAtMs: number) {
    this.#kube = kube;
    this.#options = options;
    this.#clock = clock;
    this.#endsAtMs = endsAtMs;
  }

  async run(): Promise<void> {
    const { definitions, base, webhooks, own } = this.#options.manifests;
    await this.#applyAll(definitions);
    for (const kind of new Set(base.map((object) => object.kind))) {
      if (kind === DEPLOYMENT) await this.#options.images;
      await this.#applyAll(base.filter((object) => object.kind === kind));
    }
    await this.#applyAll(webhooks);
    await Promise.all([this.#deploymentsServe(base), this.#webhooksAreWired(webhooks)]);
    await this.#applyAll(own);
  }

  #applyAll(objects: readonly Manifest[]): Promise<unknown> {
    return inParallel(objects, APPLIES_AT_ONCE, (object) => this.#apply(object));
  }

  /**
   * A kind that was just defined is not served yet, and a webhook that was just wired may have to
   * be connected to first: both pass by themselves.
   */
  async #apply(object: Manifest): Promise<void> {
    const { signal } = this.#options;
    for (;;) {
      const { apiVersion, kind, metadata } = object;
      const resource = await this.#kube.resourceFor(apiVersion, kind, { signal });
      let lacking = `the API server has no ${apiVersion} ${kind}`;
      if (resource !== undefined) {
        try {
          await this.#kube.apply(resource, object, { force: true, signal });
          return;
        } catch (error) {
          if (!isKubeError(error, 'KUBE_UNAVAILABLE', 'KUBE_TIMEOUT')) throw error;
          lacking = error.message;
        }
      }
      await this.#pause(`${kind} ${metadata.name} could not be applied: ${lacking}`);
    }
  }

  async #deploymentsServe(base: readonly Manifest[]): Promise<void> {
    const deployments = base.filter(({ kind }) => kind === DEPLOYMENT);
    const waiting = new Set(deployments.map(nameOf));
    const namespaces = [...new Set(deployments.map(({ metadata }) => metadata.namespace ?? ''))];
    while (waiting.size > 0) {
      const ready = await readyDeployments(this.#kube, namespaces, this.#options.signal);
      for (const name of ready) if (waiting.delete(name)) this.#options.onReady(name);
      if (waiting.size === 0) return;
      await this.#pause(`${[...waiting].join(', ')} did not become ready`);
    }
  }

  async #webhooksAreWired(webhooks: readonly Manifest[]): Promise<void> {
    for (;;) {
      const wired = await wiredWebhooks(this.#kube, this.#options.signal);
      const missing = webhooks.map(({ metadata }) => metadata.name);
      const waiting = missing.filter((name) => !wired.has(name));
      if (waiting.length === 0) return this.#haveThemReadAnew(webhooks);
      await this.#pause(`the webhooks ${waiting.join(', ')} were not wired`);
    }
  }

  /**
   * An API server (1.36.3) may keep what it made of a configuration before the last change of it,
   * and then calls no webhook until the next change. Knative makes its changes within a moment, so
   * one more is made after them.
   */
  async #haveThemReadAnew(webhooks: readonly Manifest[]): Promise<void> {
    const { signal } = this.#options;
    const annotations = { 'ballast.dev/wired-at': timestamp(this.#clock.nowMs()) };
    const body = { metadata: { annotations } };
    for (const { apiVersion, kind, metadata } of webhooks) {
      const resource = await this.#kube.resourceFor(apiVersion, kind, { signal });
      if (resource === undefined) throw new Error(`The API server has no ${apiVersion} ${kind}.`);
      const { name } = metadata;
      await this.#kube.patch(resource, { name }, { type: 'merge', body }, { signal });
    }
  }

  async #pause(complaint: string): Promise<void> {
    if (this.#clock.nowMs() < this.#endsAtMs) {
      return this.#clock.sleep(LOOK_EVERY_MS, this.#options.signal);
    }
    throw new Error(
      `Knative was not up in time: ${complaint}. Try it again when the machine does less.`,
    );
  }
}

const nameOf = ({ metadata }: Manifest): string => `${metadata.namespace ?? ''}/${metadata.name}`;
