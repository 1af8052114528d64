// One etcd of which old and new members are, on a model: it refuses a change of members for some
// seconds after another, as etcd does, and throws where a change would put writers at risk.
import { failureFromRefusal } from '../../../shared/etcd/admin/failure.ts';
import { NOW_MS, PODS_OF_OLD } from './world.ts';

export interface Member {
  readonly id: string;
  readonly name: string;
  readonly peerUrl: string;
  isStarted: boolean;
  /** It has what the leader has. */
  isWell: boolean;
  isDead: boolean;
}

const SETTLES_MS = 5_000;

export class JoinEtcd {
  members: Member[];
  leaderId: string;
  ms = NOW_MS;
  #changedMs = 0;
  #nextId = 200;

  constructor() {
    this.members = PODS_OF_OLD.map((name, at) => ({
      id: String(100 + at),
      name,
      peerUrl: `http://${name}.old.shop.svc:2380`,
      isStarted: true,
      isWell: true,
      isDead: false,
    }));
    this.leaderId = '100';
  }

  copy(): JoinEtcd {
    const copy = new JoinEtcd();
    copy.members = this.members.map((one) => ({ ...one }));
    copy.leaderId = this.leaderId;
    copy.ms = this.ms;
    copy.#changedMs = this.#changedMs;
    copy.#nextId = this.#nextId;
    return copy;
  }

  get isQuorate(): boolean {
    return this.well().length * 2 > this.members.length;
  }

  well(): readonly Member[] {
    return this.members.filter(({ isStarted, isWell, isDead }) => isStarted && isWell && !isDead);
  }

  byName(name: string): Member | undefined {
    return this.members.find((one) => one.name === name);
  }

  /** The change, once etcd takes it. */
  adding(peerUrl: string): () => void {
    this.#settle();
    if (this.members.some((one) => one.peerUrl === peerUrl)) refuse(9, 'Peer URLs already exists');
    if (this.well().length < this.members.length) throw new Error('added while one was away');
    const name = /^http:\/\/(new-\d)-0\.new-headless\.shop\.svc:2380$/.exec(peerUrl)?.[1];
    if (name === undefined) throw new Error(`nobody starts at ${peerUrl}`);
    return () => {
      this.#nextId += 1;
      const id = String(this.#nextId);
      const state = { isStarted: false, isWell: false, isDead: false };
      this.members.push({ id, name, peerUrl, ...state });
      this.#changedMs = this.ms;
    };
  }

  removing(id: string): () => void {
    this.#settle();
    const member = this.members.find((one) => one.id === id);
    if (member === undefined) return refuse(5, 'member not found');
    if (id === this.leaderId) throw new Error(`${member.name} led, and was removed`);
    return () => {
      this.members = this.members.filter((one) => one !== member);
      this.#changedMs = this.ms;
    };
  }

  movingLeader(asked: string, to: string): () => void {
    if (this.byName(asked)?.id !== this.leaderId) refuse(9, 'not leader');
    if (!this.well().some(({ id }) => id === to)) refuse(9, 'bad leader transferee');
    return () => {
      this.leaderId = to;
    };
  }

  /** Members catch up, and whoever is left elects one. */
  pass(ms: number): void {
    this.ms += ms;
    for (const one of this.members) if (one.isStarted) one.isWell = true;
    const well = this.well();
    const isLed = well.some(({ id }) => id === this.leaderId);
    if (!isLed && this.isQuorate) this.leaderId = well[0]?.id ?? '';
  }

  #settle(): void {
    if (!this.isQuorate) refuse(14, 'no leader');
    if (this.ms - this.#changedMs < SETTLES_MS) refuse(14, 'unhealthy cluster');
  }
}

function refuse(code: number, message: string): never {
  const about = { endpoint: 'http://a:2379', path: '/v3/cluster/member', isChange: true };
  const text = JSON.stringify({ code, message: `etcdserver: ${message}` });
  throw failureFromRefusal(about, 400, text);
}
