// Three members of etcd 3.3.27 in bare pods, as an operator leaves them, for the kubelet of the
// tests; and what a takeover asks of them and of those that join.
import { type EtcdAdmin, openEtcdAdmin } from '../../../shared/etcd/admin.ts';
import { askLegacy } from '../../../shared/etcd/legacy.ts';
import { until } from '../../builders/versioned-kind.ts';
import { settled } from '../etcd/settled.ts';
import type { EtcdPlace } from './etcd-place.ts';
import { PODS } from './etcd-scene.ts';

const NAMES = ['old-0000', 'old-0001', 'old-0002'];
const DATA_DIR = '/var/etcd';

export class OldPods {
  readonly #place: EtcdPlace;
  readonly #namespace: string;
  readonly #ips = new Map<string, string>();

  constructor(place: EtcdPlace, namespace: string) {
    this.#place = place;
    this.#namespace = namespace;
  }

  readonly urlOf = (name: string): string => `http://${name}.old.${this.#namespace}.svc:2380`;

  get members() {
    return NAMES.map((name) => ({ name, url: this.urlOf(name) }));
  }

  /** Until all of them know one leader; the id of their cluster in decimal. */
  async start(): Promise<string> {
    for (const name of NAMES) await this.#create(name);
    let id = '';
    await until('the old members to be a cluster', async () => {
      await this.#readIps();
      if (this.#ips.size < NAMES.length) return false;
      const asked = [...this.#ips.values()].map((ip) =>
        askLegacy({ url: `http://${ip}:2379` }, undefined, { timeoutMs: 3_000 }),
      );
      const answers = await Promise.all(asked).catch(() => []);
      id = answers[0]?.status.header.clusterId ?? '';
      return answers.length === NAMES.length && answers.every(({ isQuorate }) => isQuorate);
    });
    return id;
  }

  readonly open = (): EtcdAdmin =>
    openEtcdAdmin({
      endpoints: [...this.#ips.values()].map((ip) => ({ url: `http://${ip}:2379` })),
    });

  /** As a member that votes, by one of the old ones. */
  async add(peerUrl: string): Promise<void> {
    const admin = this.open();
    await settled(`${peerUrl} to be added`, () => admin.members.add([peerUrl]));
    await admin.close();
  }

  /** Asked of the new ones; a leader hands over to one of these first. */
  async remove(name: string, open: () => EtcdAdmin): Promise<void> {
    const admin = open();
    const own = openEtcdAdmin({ endpoints: [{ url: `http://${this.#ips.get(name)}:2379` }] });
    const { members } = await admin.members.list({ isLinearizable: true });
    const id = members.find((one) => one.name === name)?.id ?? '';
    const to = members.find((one) => one.name.startsWith('etcd-'))?.id ?? '';
    const member = own.at({ url: `http://${this.#ips.get(name)}:2379` });
    if ((await member.status()).leaderId === id) await member.moveLeader(to);
    await settled(`${name} to leave`, () => admin.members.remove(id));
    await Promise.all([admin.close(), own.close()]);
    await this.#place.deletePod({ namespace: this.#namespace, name: '' }, name);
  }

  async #readIps(): Promise<void> {
    for (const name of NAMES) {
      const pod = await this.#place.kube.get(PODS, { namespace: this.#namespace, name });
      const ip = String(Object(pod?.['status']).podIP ?? '');
      if (ip !== '') this.#ips.set(name, ip);
    }
  }

  async #create(name: string): Promise<void> {
    const all = NAMES.map((one) => `${one}=${this.urlOf(one)}`).join(',');
    const args = [
      `--data-dir=${DATA_DIR}/data`,
      `--name=${name}`,
      `--initial-advertise-peer-urls=${this.urlOf(name)}`,
      '--listen-peer-urls=http://0.0.0.0:2380',
      '--listen-client-urls=http://0.0.0.0:2379',
      `--advertise-client-urls=${this.urlOf(name).replace('2380', '2379')}`,
      `--initial-cluster=${all}`,
      '--initial-cluster-token=old',
      '--initial-cluster-state=new',
      // So that those that join are sent a snapshot.
      '--snapshot-count=100',
    ];
    await this.#place.kube.create(PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        namespace: this.#namespace,
        name,
        labels: { app: 'etcd', etcd_cluster: 'old', etcd_node: name },
      },
      spec: {
        restartPolicy: 'Never',
        hostname: name,
        subdomain: 'old',
        terminationGracePeriodSeconds: 5,
        securityContext: { runAsUser: 65_534 },
        containers: [
          {
            name: 'etcd',
            image: 'quay.io/coreos/etcd:v3.3.27',
            command: ['/usr/local/bin/etcd'],
            args,
            ports: [{ name: 'client', containerPort: 2379 }],
            readinessProbe: { httpGet: { path: '/health', port: 'client' } },
            volumeMounts: [{ name: 'etcd-data', mountPath: DATA_DIR }],
          },
        ],
        volumes: [{ name: 'etcd-data', emptyDir: {} }],
      },
    });
  }
}
