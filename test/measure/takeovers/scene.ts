// A cluster with Knative and our functions as they ship, a namespace of it with what an operator
// left, and a Takeover there that somebody confirms and waits for.
import { knativeStages } from '../../../knative/try/cluster/knative-stages.ts';
import { runStages } from '../../../knative/try/cluster/stages.ts';
import { startCluster } from '../../../knative/try/cluster/start-cluster.ts';
import { answer } from '../../../knative/tools/rights/command.ts';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import type { TakeoverStatus } from '../../../shared/api/takeover.ts';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import { PODS, SERVICES } from '../../../shared/stateful/parts.ts';
import { parseAllDocuments } from 'yaml';
import { until } from '../../builders/versioned-kind.ts';
import { Interrupted } from '../../bench/feed/system.ts';
import { confirmPlan, startOperator, takeoverStatus } from '../../builders/legacy-kind.ts';
import { oldArchives } from './old-images.ts';

const NAMESPACES = { group: '', version: 'v1', resource: 'namespaces' } as const;
const NODES = 3;
const RUNNING_WITHIN_MS = 180_000;
/** The function is woken once a minute. */
const PLANNED_WITHIN_MS = 180_000;
const DONE_WITHIN_MS = 1_200_000;

export type Print = (line: string) => void;

/** Nothing is left of the cluster afterwards, also when a signal ends it. */
export async function onCluster(
  print: Print,
  work: (kube: KubeClient) => Promise<void>,
): Promise<void> {
  const end = new AbortController();
  const giveUp = (): void => end.abort(new Interrupted('Told to end.'));
  process.once('SIGINT', giveUp).once('SIGTERM', giveUp);
  const { signal } = end;
  const cluster = await startCluster({ nodes: NODES, onNote: print, signal });
  try {
    await runStages(knativeStages, cluster, {
      onReady: (name) => print(`${name} is ready`),
      signal,
    });
    for (const archive of await oldArchives()) await cluster.importImage(archive);
    const { kubeconfigPath } = cluster;
    const kube = openKube({ kubeconfigPath, userAgent: 'measure', fieldManager: 'measure' });
    const told = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
    try {
      await Promise.race([work(kube), told]);
    } finally {
      await kube.close();
    }
  } finally {
    process.off('SIGINT', giveUp).off('SIGTERM', giveUp);
    await cluster.stop();
  }
}

export class Scene {
  readonly kube: KubeClient;
  readonly namespace: string;
  readonly #print: Print;

  constructor(kube: KubeClient, namespace: string, print: Print) {
    this.kube = kube;
    this.namespace = namespace;
    this.#print = print;
  }

  /** With the rights that a person grants by `npm run rights`, and an operator that runs still. */
  async prepare(
    operator: Parameters<typeof startOperator>[2],
    rights: readonly (readonly string[])[],
  ): Promise<void> {
    const { kube, namespace } = this;
    await kube.create(NAMESPACES, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace },
    });
    for (const [name = '', ...more] of rights) {
      const documents = parseAllDocuments(answer([name, '-n', namespace, ...more]));
      const objects = documents.map((one) => ({
        file: 'npm run rights',
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Made by ourselves.
        object: one.toJS() as Manifest,
      }));
      await applyObjects(kube, objects);
    }
    await startOperator(kube, namespace, operator);
  }

  async podsRun(names: readonly string[]): Promise<void> {
    const { kube, namespace } = this;
    const isRunning = async (name: string): Promise<boolean> => {
      const pod = await kube.get(PODS, { namespace, name });
      return Object(pod?.['status']).phase === 'Running';
    };
    await this.podsBring(`pods ${names.join(', ')}`, async () =>
      (await Promise.all(names.map(isRunning))).every(Boolean),
    );
  }

  /** Waits for what pods of an operator bring; its error has their states. */
  async podsBring(what: string, isSo: () => Promise<boolean>): Promise<void> {
    try {
      await until(what, isSo, RUNNING_WITHIN_MS);
    } catch (cause) {
      const { items } = await this.kube.list(PODS, { namespace: this.namespace });
      const told = items.map(({ metadata, status }) => {
        const { phase, containerStatuses } = Object(status) as Record<string, unknown>;
        return `${metadata.name} ${JSON.stringify({ phase, containerStatuses })}`;
      });
      throw new Error(told.join('\n'), { cause });
    }
  }

  /** Where clients of a Service connect, from this machine too. */
  async clusterIp(name: string): Promise<string> {
    const service = await this.kube.get(SERVICES, { namespace: this.namespace, name });
    return String(Object(service?.['spec']).clusterIP);
  }

  status(name: string): Promise<TakeoverStatus> {
    return takeoverStatus(this.kube, { namespace: this.namespace, name });
  }

  /** Confirms its plan once there is one, and waits until it is carried out. */
  async carryOut(name: string): Promise<TakeoverStatus> {
    const isPlanned = async () => (await this.status(name)).plan?.id !== undefined;
    await this.#awaited(name, 'a plan', isPlanned, PLANNED_WITHIN_MS);
    await confirmPlan(this.kube, { namespace: this.namespace, name });
    const isDone = async () => (await this.status(name)).phase === 'Done';
    await this.#awaited(name, 'the plan to be carried out', isDone, DONE_WITHIN_MS);
    const status = await this.status(name);
    for (const { name: step, startedAt, doneAt = startedAt } of status.steps ?? []) {
      const seconds = (Date.parse(doneAt) - Date.parse(startedAt)) / 1_000;
      this.#print(`${step}: ${seconds} s, from ${startedAt}`);
    }
    return status;
  }

  async #awaited(
    name: string,
    what: string,
    isSo: () => Promise<boolean>,
    withinMs: number,
  ): Promise<void> {
    try {
      await until(what, isSo, withinMs);
    } catch (cause) {
      const { plan, ...status } = await this.status(name);
      const told = JSON.stringify({ ...status, refusals: plan?.refusals }, null, 1);
      throw new Error(`${this.namespace}/${name}: ${told}`, { cause });
    }
  }
}
