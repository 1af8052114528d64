// An EtcdCluster of improbable's etcd operator on the model of the API server, as that leaves it.
import { CLAIMS } from '../../../shared/stateful/parts.ts';
import { CLEANUP, improbableEtcd, improbableOf, podOf } from '../../builders/legacy-improbable.ts';
import { type Carrying, COPYING, type OldEtcd } from './carrying.ts';
import { answerOf, beginEmpty, DEPLOYMENTS, namespace, putTakeover, world } from './world.ts';

export const PEERS = ['old-0', 'old-1', 'old-2'];

/** A person says by it that nobody looks after the object. */
const GONE = { 'ballast.dev/operator': 'Gone' };
export const IMAGE = 'quay.io/improbable-eng/etcd-cluster-operator-controller:v0.2.0';

export interface Left {
  readonly spec?: object;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Those of its last peer. */
  readonly finalizers?: readonly string[];
}

export function leaveImprobable(left: Left = {}): void {
  const { spec = {}, annotations = GONE, finalizers = [] } = left;
  beginEmpty();
  const peers = PEERS.map((name, at) => {
    say(at);
    return { name, ip: ipOf(at), finalizers: name === PEERS.at(-1) ? finalizers : [] };
  });
  const objects = improbableEtcd({ namespace, name: 'old', peers, spec, annotations });
  for (let made = objects.next(); made.done !== true;) {
    made = objects.next(world.kube.put(...made.value));
  }
  putTakeover({ legacy: improbableOf('old') });
}

const ipOf = (at: number): string => `10.0.3.${'a'.charCodeAt(0) + at}`;

/** Members know each other by the names of their EtcdPeers. */
export function say(at: number, version = '3.3.27'): void {
  const answer = answerOf(at, { version });
  const members = answer.members.map((one, place) => ({ ...one, name: PEERS[place] ?? '' }));
  world.answers.set(ipOf(at), { ...answer, members });
}

export const IMPROBABLE: OldEtcd = {
  service: 'old',
  selector: { 'app.kubernetes.io/name': 'etcd', 'etcd.improbable.io/cluster-name': 'old' },
  pods: PEERS.map((name) => podOf(name)),
  claims: PEERS,
  steps: [...COPYING, 'SwitchService', 'ReleasePeers', 'DeleteLegacy'],
  begin: () => leaveImprobable({ finalizers: [CLEANUP] }),
  image: IMAGE,
};

/** The operator, once somebody has started it: it deletes the claim of a peer that is to go. */
export function operate({ kube }: Carrying): void {
  const deployment = kube.objects.get(`${DEPLOYMENTS.resource}/${namespace}/etcd-operator`);
  if (Object(deployment?.['spec']).replicas === 0) return;
  for (const { metadata } of kube.of('etcdpeers').values()) {
    const { name, deletionTimestamp, finalizers = [] } = metadata;
    if (deletionTimestamp === undefined || !finalizers.includes(CLEANUP)) continue;
    kube.remove(CLAIMS, { namespace, name });
  }
}
