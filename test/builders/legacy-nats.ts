// A NatsCluster of the NATS operator as it is left where the operator is gone: its definition
// without a schema, as clusters have it that went through 1.22, the object, bare pods, Services and
// the Secret with the configuration, as version 0.8 of the operator writes it. A test says where
// the pods are.
import { LEGACY_NATS, type TakeoverStatus } from '../../shared/api/takeover.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { PODS, SECRETS, SERVICES } from '../../shared/stateful/parts.ts';
import { createTakeover, defineLegacyKind, runsAt, takeoverStatus } from './legacy-kind.ts';

const LEGACY_TYPE = 'nats.io/v1alpha2';

export const defineLegacyNats = (kube: KubeClient): Promise<void> =>
  defineLegacyKind(kube, LEGACY_NATS, 'NatsCluster', 'nats');

/** As the operator writes it: JSON, in which it takes the quotes off one variable. */
export function configText(config: object): string {
  const named = { port: 4222, server_name: '$SERVER_NAME', http_port: 8222, ...config };
  return JSON.stringify(named, null, 2).replace('"$SERVER_NAME"', '$SERVER_NAME');
}

interface LegacyServer {
  readonly name: string;
  /** Absent where a kubelet runs it. */
  readonly ip?: string;
}

/** Where its servers find what a NatsCluster names. */
const CONFIG_DIR = '/etc/nats-config';
const PID_DIR = '/var/run/nats';
export const CLIENTS_TLS_DIR = '/etc/nats-server-tls-certs';
export const ROUTES_TLS_DIR = '/etc/nats-routes-tls-certs';

interface LegacyNatsSpec {
  readonly tls?: { readonly serverSecret: string; readonly routesSecret: string };
}

export class LegacyNats {
  readonly #kube: KubeClient;
  readonly #namespace: string;
  readonly #name: string;

  constructor(kube: KubeClient, namespace: string, name: string) {
    this.#kube = kube;
    this.#namespace = namespace;
    this.#name = name;
  }

  get #labels() {
    return { app: 'nats', nats_cluster: this.#name };
  }

  async create(
    pods: readonly LegacyServer[],
    config: object,
    spec: LegacyNatsSpec = {},
  ): Promise<void> {
    const named = { namespace: this.#namespace, name: this.#name };
    const { object } = await this.#kube.create(LEGACY_NATS, {
      apiVersion: LEGACY_TYPE,
      kind: 'NatsCluster',
      metadata: named,
      spec: { size: pods.length, version: '2.1.9', serverImage: 'nats', ...spec },
      status: { phase: 'Running', size: pods.length, currentVersion: '2.1.9' },
    });
    const { uid } = object.metadata;
    const owner = { apiVersion: LEGACY_TYPE, kind: 'NatsCluster', name: this.#name, uid };
    const ownerReferences = [{ ...owner, controller: true }];
    await this.#services(ownerReferences);
    await this.#kube.create(SECRETS, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...named, labels: this.#labels, ownerReferences },
      stringData: { 'nats.conf': configText(config) },
    });
    for (const pod of pods) await this.#pod(pod, spec, ownerReferences);
  }

  async #services(ownerReferences: readonly object[]): Promise<void> {
    const client = { name: 'tcp-client', port: 4222, protocol: 'TCP' };
    const routes = { name: 'cluster', port: 6222, protocol: 'TCP' };
    const monitoring = { name: 'monitoring', port: 8222, protocol: 'TCP' };
    const metrics = { name: 'metrics', port: 7777, protocol: 'TCP' };
    const bodies = {
      [this.#name]: { ports: [client], selector: this.#labels },
      [`${this.#name}-mgmt`]: {
        clusterIP: 'None',
        publishNotReadyAddresses: true,
        ports: [routes, monitoring, metrics],
        selector: { ...this.#labels, nats_version: '2.1.9' },
      },
    };
    for (const [name, body] of Object.entries(bodies)) {
      await this.#kube.create(SERVICES, {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { namespace: this.#namespace, name, labels: this.#labels, ownerReferences },
        spec: body,
      });
    }
  }

  async #pod(
    { name, ip }: LegacyServer,
    { tls }: LegacyNatsSpec,
    ownerReferences: readonly object[],
  ): Promise<void> {
    const namespace = this.#namespace;
    const secrets =
      tls === undefined
        ? []
        : [
            { name: 'server-tls-certs', at: CLIENTS_TLS_DIR, secretName: tls.serverSecret },
            { name: 'routes-tls-certs', at: ROUTES_TLS_DIR, secretName: tls.routesSecret },
          ];
    const mounts = [
      { name: 'nats-config', at: CONFIG_DIR },
      { name: 'pid', at: PID_DIR },
      ...secrets,
    ];
    const container = {
      name: 'nats',
      image: 'nats:2.1.9',
      command: ['nats-server', '-c', `${CONFIG_DIR}/nats.conf`, '-P', `${PID_DIR}/gnatsd.pid`],
      env: [{ name: 'SERVER_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
      ports: [6222, 8222, 4222].map((containerPort) => ({ containerPort })),
      volumeMounts: mounts.map((one) => ({ name: one.name, mountPath: one.at })),
    };
    await this.#kube.create(PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        namespace,
        name,
        labels: { ...this.#labels, nats_version: '2.1.9' },
        annotations: { 'nats.version': '2.1.9' },
        ownerReferences,
      },
      spec: {
        restartPolicy: 'Always',
        hostname: name,
        subdomain: `${this.#name}-mgmt`,
        containers: [container],
        volumes: [
          { name: 'nats-config', secret: { secretName: this.#name } },
          { name: 'pid', emptyDir: {} },
          ...secrets.map((one) => ({ name: one.name, secret: { secretName: one.secretName } })),
        ],
      },
    });
    if (ip !== undefined) await runsAt(this.#kube, { namespace, name }, ip);
  }

  async takeOver(name: string, spec: object = {}, to = `${this.#name}-2`): Promise<void> {
    const legacy = { apiVersion: LEGACY_TYPE, kind: 'NatsCluster', name: this.#name };
    const into = { name: to, spec };
    const metadata = { namespace: this.#namespace, name };
    await createTakeover(this.#kube, metadata, { legacy, mode: 'Route', into });
  }

  statusOf(takeover: string): Promise<TakeoverStatus> {
    return takeoverStatus(this.#kube, { namespace: this.#namespace, name: takeover });
  }
}
