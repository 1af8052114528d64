// A legacy etcd with TLS and a legacy NATS for the function takeover, where nobody answers: one
// Takeover of the etcd says where its operator is, and another one does not.
import { takeoverRights } from '../../../knative/tools/rights/takeover.ts';
import { TAKEOVERS } from '../../../shared/api/takeover.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import { defineLegacyEtcd, LegacyEtcd } from '../../builders/legacy-etcd.ts';
import { defineLegacyNats, LegacyNats } from '../../builders/legacy-nats.ts';

const NAMESPACES = { group: '', version: 'v1', resource: 'namespaces' } as const;
const namespace = 'left';
const OPERATOR = { namespace: 'operators', name: 'etcd-operator' };
const SECRETS = ['operator', 'server', 'given', 'bus', 'bus-2-users'];
const INTO = { name: 'new', spec: { tls: { clients: { secretName: 'given' } } } };

export class LeftEtcd {
  readonly rights: readonly Manifest[] = takeoverRights(namespace, SECRETS, OPERATOR, ['new']);
  readonly #old: LegacyEtcd;

  private constructor(old: LegacyEtcd) {
    this.#old = old;
  }

  static async create(kube: KubeClient): Promise<LeftEtcd> {
    await defineLegacyEtcd(kube);
    for (const name of [namespace, OPERATOR.namespace]) {
      await kube.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    }
    const old = new LegacyEtcd(kube, namespace, 'old');
    const member = { serverSecret: 'server', peerSecret: 'peer' };
    const TLS = { static: { member, operatorSecret: 'operator' } };
    await old.create([{ name: 'old-a', ip: '127.0.0.1' }], { TLS });
    await old.takeOver('over', { into: INTO });
    await defineLegacyNats(kube);
    const nats = new LegacyNats(kube, namespace, 'bus');
    await nats.create([{ name: 'bus-1', ip: '127.0.0.1' }], {});
    await nats.takeOver('of-nats');
    return new LeftEtcd(old);
  }

  async namesOperator(): Promise<void> {
    const legacy = { kind: 'EtcdCluster', name: 'old', operator: OPERATOR };
    await this.#old.takeOver('elsewhere', { legacy, into: INTO });
  }

  /** The condition after its type: `False NoQuorum: It has no quorum...`. */
  async planned(name = 'over'): Promise<string> {
    const { conditions = [] } = await this.#old.statusOf(name);
    const { status, reason, message } = conditions.find(({ type }) => type === 'Planned') ?? {};
    return `${status} ${reason}: ${message}`;
  }

  async reasons(name = 'over'): Promise<readonly string[]> {
    const { plan } = await this.#old.statusOf(name);
    return (plan?.refusals ?? []).map(({ reason }) => reason);
  }

  /** As the function would say of a plan that nothing speaks against. */
  static async sayPlanned(kube: KubeClient, condition: object): Promise<void> {
    const target = { namespace, name: 'elsewhere', subresource: 'status' };
    const body = { status: { conditions: [condition] } };
    await kube.patch(TAKEOVERS, target, { type: 'merge', body });
  }
}
