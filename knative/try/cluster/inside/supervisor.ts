// Brings the cluster up inside its namespaces and keeps it up: what waits for nothing else starts
// at once, what died starts again.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openKube, type KubeClient } from '../../../../shared/kube/client.ts';
import type { KubeObject, ResourceRef } from '../../../../shared/kube/objects.ts';
import type { Selection } from '../../../../shared/kube/reads.ts';
import { applyObjects } from '../../local/cluster/apply-objects.ts';
import type { ClusterObject } from '../../local/manifests/wiring.ts';
import type { Part, PartChange } from '../../local/process/part.ts';
import { kubeconfigPath } from '../cluster-directory.ts';
import type { InsideConfig, InsideMessage } from './config.ts';
import { ControlPlane } from './control-plane.ts';
import { dnsObjects, startDns } from './dns.ts';
import { Machine } from './machine.ts';
import { Provisioner } from './provisioner.ts';
import { storageClass } from './volume.ts';

export class ClusterSupervisor {
  readonly #config: InsideConfig;
  readonly #print: (message: InsideMessage) => void;
  readonly #controlPlane: ControlPlane;
  readonly #machines: readonly Machine[];
  readonly #kube: KubeClient;

  private constructor(
    config: InsideConfig,
    controlPlane: ControlPlane,
    print: (message: InsideMessage) => void,
  ) {
    this.#config = config;
    this.#controlPlane = controlPlane;
    this.#print = print;
    this.#machines = config.nodes.map((node) => new Machine(config, controlPlane, node));
    this.#kube = openKube({
      kubeconfigPath: kubeconfigPath(config.dir),
      userAgent: 'ballast-cluster',
      fieldManager: 'ballast-cluster',
    });
  }

  static async start(
    config: InsideConfig,
    print: (message: InsideMessage) => void,
  ): Promise<ClusterSupervisor> {
    const controlPlane = await ControlPlane.start(config, (change) => print(messageOf(change)));
    const supervisor = new ClusterSupervisor(config, controlPlane, print);
    await supervisor.#start();
    return supervisor;
  }

  parts(): readonly Part[] {
    return this.#controlPlane.plane.parts();
  }

  part(name: string): Part {
    return this.#controlPlane.plane.part(name);
  }

  machine(name: string): Machine {
    const machine = this.#machines.find((one) => one.name === name);
    if (machine !== undefined) return machine;
    const names = this.#machines.map((one) => one.name).join(', ');
    throw new Error(`no node is named ${name}; there are: ${names}`);
  }

  /** On every node, so that a pod may run on any. */
  async import(archive: string): Promise<void> {
    for (const machine of this.#machines) await machine.import(archive);
  }

  async #start(): Promise<void> {
    const apiServer = this.#controlPlane.startApiServer();
    await Promise.all([
      apiServer.then(() => this.#startClients()),
      ...this.#machines.map((machine) => machine.boot(apiServer)),
    ]);
    await Promise.all([
      ...this.#machines.map(({ name }) => this.#untilNodeReady(name)),
      this.#untilPodsAreTaken(),
    ]);
  }

  async #startClients(): Promise<void> {
    await Promise.all([
      this.#controlPlane.startControllerManager(),
      this.#controlPlane.startScheduler(),
      this.#controlPlane.startProxy(),
      this.#startDns(),
      this.#startStorage(),
    ]);
  }

  /** No pod is taken before the namespace's own service account is there. */
  async #untilPodsAreTaken(): Promise<void> {
    const selection = { namespace: 'default', fieldSelector: 'metadata.name=default' };
    const lacking = 'kube-controller-manager has not made the service account "default"';
    await this.#untilOne(SERVICE_ACCOUNTS, selection, () => true, lacking);
  }

  async #untilNodeReady(name: string): Promise<void> {
    const selection = { fieldSelector: `metadata.name=${name}` };
    await this.#untilOne(NODES, selection, isReady, `${name} has not become ready`);
    this.#print({ kind: 'ready', readyName: name });
  }

  async #untilOne(
    ref: ResourceRef,
    selection: Selection,
    fits: (object: KubeObject) => boolean,
    lacking: string,
  ): Promise<void> {
    const signal = AbortSignal.timeout(READY_WITHIN_MS);
    try {
      const events = this.#kube.watch(ref, { ...selection, from: 'initial-events', signal });
      for await (const event of events) if ('object' in event && fits(event.object)) return;
    } catch (cause) {
      if (!signal.aborted) throw cause;
      throw new Error(`${lacking} within ${READY_WITHIN_MS / 1000} s.`, { cause });
    }
  }

  async #startDns(): Promise<void> {
    // First its rights: refused once, it asks again only after a long pause.
    await this.#applyEarly(dnsObjects(this.#config));
    await startDns(this.#config, this.#controlPlane);
  }

  /**
   * An API server that calls itself ready has not made kube-system yet, nor can it give a Service
   * its address; on a busy machine that takes seconds.
   */
  async #applyEarly(objects: readonly ClusterObject['object'][]): Promise<void> {
    const endsAtMs = Date.now() + READY_WITHIN_MS;
    for (;;) {
      try {
        return await applyObjects(this.#kube, objects.map(ofCluster));
      } catch (error) {
        if (Date.now() > endsAtMs) throw error;
        await sleep(RETRY_AFTER_MS);
      }
    }
  }

  async #startStorage(): Promise<void> {
    await this.#applyEarly([storageClass]);
    new Provisioner(this.#kube, join(this.#config.dir, 'nodes'), (error) => {
      const text = error instanceof Error ? error.message : String(error);
      this.#print({ kind: 'trouble', text: `A volume could not be looked after: ${text}` });
    }).start();
  }
}

/**
 * The kubelet reports itself ready within seconds of its start; on a busy machine it took more than
 * a minute, and giving up costs all that is there by then.
 */
const READY_WITHIN_MS = 600_000;
const RETRY_AFTER_MS = 100;
const SERVICE_ACCOUNTS = { group: '', version: 'v1', resource: 'serviceaccounts' } as const;
const NODES = { group: '', version: 'v1', resource: 'nodes' } as const;

const ofCluster = (object: ClusterObject['object']): ClusterObject => ({
  file: 'the cluster itself',
  object,
});

const messageOf = ({ part, state, ending, awaits }: PartChange): InsideMessage => ({
  kind: 'part',
  name: part.name,
  state,
  ...(state === 'dead' ? { note: [ending, ...part.lastLines(5)].join('\n') } : {}),
  ...(awaits === undefined ? {} : { note: awaits }),
});

function isReady(node: Readonly<Record<string, unknown>>): boolean {
  // The API server has taken it, and so it has these fields.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { conditions = [] } = (node['status'] ?? {}) as {
    readonly conditions?: readonly Readonly<Record<'type' | 'status', string>>[];
  };
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}
