// An EtcdCluster of improbable's etcd operator on the model of the API server, as that leaves it.
import { improbableEtcd, improbableOf } from '../../builders/legacy-improbable.ts';
import { answerOf, beginEmpty, namespace, putTakeover, world } from './world.ts';

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
