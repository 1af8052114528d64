// The control plane of a cluster: the plane of `npm start` with an API server that nodes can reach,
// and with the controllers, the scheduler and kube-proxy, each under its own name and rights.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Subject } from '../../../../shared/x509.ts';
import { Authority } from '../../local/plane/authority.ts';
import {
  apiServerSpec,
  type ClusterApi,
  clusterCaPath,
  prepareClusterApi,
  serviceAccountKeyPath,
} from '../../local/plane/kube-apiserver.ts';
import { addControllerManager } from '../../local/plane/kube-controller-manager.ts';
import { writeKubeconfig } from '../../local/plane/kubeconfig.ts';
import { type Plane, startPlane } from '../../local/plane/plane.ts';
import { answers } from '../../local/plane/probe.ts';
import type { PartChange } from '../../local/process/part.ts';
import { kubeconfigPath } from '../cluster-directory.ts';
import type { InsideConfig } from './config.ts';
import { bridgesObeyRules } from './network.ts';
import { GO_GC } from './place.ts';

/** Where every Kubernetes serves by custom: the network is the cluster's own. */
const API_PORT = 6443;
const SCHEDULER_PORT = 10_259;
const PROXY_HEALTH_PORT = 10_256;

export class ControlPlane {
  readonly plane: Plane;
  readonly #config: InsideConfig;
  readonly #authority: Authority;

  private constructor(plane: Plane, config: InsideConfig, authority: Authority) {
    this.plane = plane;
    this.#config = config;
    this.#authority = authority;
  }

  /** Resolves when etcd runs; the rest is the caller's to start, the API server first. */
  static async start(
    config: InsideConfig,
    onChange: (change: PartChange) => void,
  ): Promise<ControlPlane> {
    const plane = await startPlane({ parts: ['etcd'], restart: 'backoff', onChange });
    const authority = new Authority('ballast-cluster');
    return new ControlPlane(plane, config, authority);
  }

  get server(): string {
    return `https://${this.#config.addresses.controlPlane}:${API_PORT}`;
  }
  get authority(): Authority {
    return this.#authority;
  }
  get caPath(): string {
    return clusterCaPath(this.plane.dir);
  }

  /** A kubeconfig in the plane's directory, with a certificate for this user. */
  async kubeconfigFor(
    subject: Subject & { readonly commonName: string },
    path?: string,
  ): Promise<string> {
    const file = path ?? join(this.plane.dir, `${subject.commonName.replaceAll(':', '-')}.yaml`);
    await writeKubeconfig(file, {
      server: this.server,
      ca: { certPem: this.#authority.certPem },
      user: subject.commonName,
      credential: this.#authority.issue(subject),
    });
    return file;
  }

  async startApiServer(): Promise<void> {
    const { addresses, dir: clusterDir, parts } = this.#config;
    const { dir } = this.plane;
    const cluster: ClusterApi = {
      address: addresses.controlPlane,
      serviceCidr: addresses.serviceCidr,
      serviceAddress: addresses.kubernetesService,
      authority: this.#authority,
    };
    await prepareClusterApi(dir, cluster);
    const admin = { commonName: 'admin', organizations: ['system:masters'] };
    await this.kubeconfigFor(admin, kubeconfigPath(clusterDir));
    const goGcPercent = Number(GO_GC.GOGC);
    const etcdUrl = this.plane.part('etcd').url;
    const binary = parts['kube-apiserver'];
    await this.plane.add(
      apiServerSpec({ binary, dir, port: API_PORT, etcdUrl, cluster, goGcPercent }),
    );
  }

  async startControllerManager(): Promise<void> {
    const { dir } = this.plane;
    await mkdir(join(dir, 'flex'), { recursive: true });
    await writeFile(join(dir, 'ca.key'), this.#authority.keyPem, { mode: 0o600 });
    await addControllerManager(this.plane, {
      controllers: ['*'],
      env: GO_GC,
      kubeconfigPath: await this.kubeconfigFor({ commonName: 'system:kube-controller-manager' }),
      moreFlags: [
        // Each controller fetches a token first, and at the usual rate that alone takes 4 s.
        '--kube-api-qps=200',
        '--kube-api-burst=400',
        // Each controller with the rights of its own account, as in a cluster of kubeadm's.
        '--use-service-account-credentials=true',
        `--service-account-private-key-file=${serviceAccountKeyPath(dir)}`,
        `--root-ca-file=${this.caPath}`,
        `--cluster-signing-cert-file=${this.caPath}`,
        `--cluster-signing-key-file=${join(dir, 'ca.key')}`,
        `--flex-volume-plugin-dir=${join(dir, 'flex')}`,
      ],
    });
  }

  async startScheduler(): Promise<void> {
    const name = 'kube-scheduler';
    const certDir = join(this.plane.dir, name);
    const url = `https://127.0.0.1:${SCHEDULER_PORT}`;
    await this.plane.add({
      name,
      command: this.#config.parts[name],
      args: [
        `--kubeconfig=${await this.kubeconfigFor({ commonName: 'system:kube-scheduler' })}`,
        '--bind-address=127.0.0.1',
        `--secure-port=${SCHEDULER_PORT}`,
        `--cert-dir=${certDir}`,
        '--leader-elect=false',
      ],
      env: GO_GC,
      url,
      ready: (signal) => answers(`${url}/healthz`, signal, join(certDir, `${name}.crt`)),
    });
  }

  /** One for all nodes: they share a network namespace, and so the rules. */
  async startProxy(): Promise<void> {
    const { addresses, nodes, parts, path } = this.#config;
    const kubeconfig = await this.kubeconfigFor({ commonName: 'system:kube-proxy' });
    const file = join(this.plane.dir, 'kube-proxy.config.yaml');
    const health = `${addresses.controlPlane}:${PROXY_HEALTH_PORT}`;
    const config = {
      apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
      kind: 'KubeProxyConfiguration',
      clientConnection: { kubeconfig },
      mode: 'iptables',
      iptables: { masqueradeAll: !(await bridgesObeyRules()), minSyncPeriod: '0s' },
      clusterCIDR: addresses.podCidr,
      detectLocalMode: 'ClusterCIDR',
      hostnameOverride: nodes[0]?.name,
      healthzBindAddress: health,
      metricsBindAddress: '127.0.0.1:10249',
      // The size of the table is one for the whole machine.
      conntrack: { maxPerCore: 0, min: 0 },
    };
    await writeFile(file, stringify(config));
    await this.plane.add({
      name: 'kube-proxy',
      command: parts['kube-proxy'],
      args: [`--config=${file}`],
      env: { ...GO_GC, PATH: path },
      url: `http://${health}`,
      ready: (signal) => answers(`http://${health}/livez`, signal),
    });
  }
}
