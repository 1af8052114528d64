// The peer of an EtcdCluster: the StatefulSet that charts install. All members are in a list that
// never changes, all start at once, and a new template is rolled out by the StatefulSet's own
// controller. Image, flags and probes are those that our members have.
import type { EtcdSettings } from '../../../shared/api/etcd-cluster.ts';
import { headlessName, PEER_PORT } from '../../../shared/api/etcd-names.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { KubeObject, Manifest, ResourceRef } from '../../../shared/kube/objects.ts';
import { CLAIMS, PODS, STATEFUL_SETS } from '../../../shared/stateful/parts.ts';
import { podSpec } from '../../../functions/etcd-peer/render/pod.ts';
import { until } from '../../builders/versioned-kind.ts';
import type { Named } from '../../integration/etcd-cluster/etcd-scene.ts';

const SERVICES = { group: '', version: 'v1', resource: 'services' } as const;
/** The one template is for all pods. */
const POD_NAME = '$(POD_NAME)';
const READY_WITHIN_MS = 120_000;

export class PlainSet {
  readonly #kube: KubeClient;
  readonly #at: Named;
  readonly #settings: EtcdSettings;
  readonly #replicas: number;

  constructor(kube: KubeClient, at: Named, settings: EtcdSettings, replicas: number) {
    this.#kube = kube;
    this.#at = at;
    this.#settings = settings;
    this.#replicas = replicas;
  }

  get #labels(): Readonly<Record<string, string>> {
    return { 'app.kubernetes.io/instance': this.#at.name };
  }

  async create(): Promise<void> {
    const { namespace, name } = this.#at;
    const service = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace, name: headlessName(name) },
      spec: {
        clusterIP: 'None',
        publishNotReadyAddresses: true,
        selector: this.#labels,
        ports: [{ name: 'peer', port: PEER_PORT }],
      },
    };
    await this.#kube.create(SERVICES, service);
    await this.#apply(this.#settings.image);
  }

  /** Its controller restarts one pod after the other, the highest number first. */
  async changeImage(image: string): Promise<void> {
    await this.#apply(image);
  }

  async untilReady(): Promise<void> {
    const isReady = async (): Promise<boolean> => {
      const found = await this.#kube.get(STATEFUL_SETS, this.#at);
      return found !== null && isRolledOut(found, this.#replicas);
    };
    await until(`StatefulSet ${this.#at.name} to be ready`, isReady, READY_WITHIN_MS);
  }

  pods(): Promise<readonly KubeObject[]> {
    return this.#own(PODS);
  }

  /** Claims have the labels of the set, too. */
  async #own(ref: ResourceRef): Promise<readonly KubeObject[]> {
    const labelSelector = `app.kubernetes.io/instance=${this.#at.name}`;
    return (await this.#kube.list(ref, { namespace: this.#at.namespace, labelSelector })).items;
  }

  async delete(): Promise<void> {
    const { namespace } = this.#at;
    const found = await this.#kube.get(STATEFUL_SETS, this.#at);
    if (found === null) return;
    await this.#kube.delete(STATEFUL_SETS, this.#at, { uid: found.metadata.uid });
    await until('its pods to end', async () => (await this.pods()).length === 0, READY_WITHIN_MS);
    for (const { metadata } of await this.#own(CLAIMS)) {
      await this.#kube.delete(CLAIMS, { namespace, name: metadata.name }, { uid: metadata.uid });
    }
  }

  async #apply(image: string): Promise<void> {
    const { namespace, name } = this.#at;
    const labels = this.#labels;
    const { containers, volumes, ...pod } = this.#podAt(image);
    const [container] = containers;
    const manifest: Manifest = {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { namespace, name },
      spec: {
        replicas: this.#replicas,
        serviceName: headlessName(name),
        podManagementPolicy: 'Parallel',
        updateStrategy: { type: 'RollingUpdate' },
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            ...pod,
            containers: [{ ...container, env: [POD_NAME_VARIABLE] }],
            volumes: volumes.filter((one) => one.name !== 'data'),
          },
        },
        volumeClaimTemplates: [
          {
            metadata: { name: 'data' },
            spec: {
              accessModes: ['ReadWriteOnce'],
              resources: { requests: { storage: this.#settings.storage.size } },
            },
          },
        ],
      },
    };
    await this.#kube.apply(STATEFUL_SETS, manifest, { force: true });
  }

  /** Ours, for a pod of which only a variable knows the name. */
  #podAt(image: string) {
    const { namespace, name: cluster } = this.#at;
    const names = Array.from({ length: this.#replicas }, (_, index) => `${cluster}-${index}`);
    const host = (pod: string): string => `${pod}.${headlessName(cluster)}.${namespace}.svc`;
    const initialCluster = names.map((name) => ({
      name,
      url: `http://${host(name)}:${PEER_PORT}`,
    }));
    const bootstrap = { state: 'New', token: cluster, initialCluster } as const;
    const settings = { ...this.#settings, image };
    const spec = { ...settings, cluster, ordinal: 0, running: true, bootstrap };
    const pod = podSpec({ namespace, name: POD_NAME, spec }, false);
    const containers = pod.containers.map((one) => ({
      ...one,
      // Here the pod of a member is called as its member.
      args: one.args.map((arg) => arg.replaceAll(`${POD_NAME}-0.`, `${POD_NAME}.`)),
    }));
    return { ...pod, containers };
  }
}

const POD_NAME_VARIABLE = {
  name: 'POD_NAME',
  valueFrom: { fieldRef: { fieldPath: 'metadata.name' } },
};

function isRolledOut({ metadata, status }: KubeObject, replicas: number): boolean {
  const { observedGeneration, readyReplicas, updatedReplicas, updateRevision, currentRevision } =
    Object(status);
  return (
    observedGeneration === metadata.generation &&
    readyReplicas === replicas &&
    (updatedReplicas ?? replicas) === replicas &&
    updateRevision === currentRevision
  );
}
