// Traffic at a cluster whose members become others: clients that write and read one after the
// other, and the probes of a kubelet, at every member and without a rest.
import {
  checkHistory,
  type Operation,
  RecordedClient,
  type Verdict,
} from '../../builders/etcd-history.ts';
import type { EtcdAdmin } from '../../../shared/etcd/admin.ts';
import { systemClock } from '../../../shared/clock.ts';

const CLIENTS = 3;
const WITHIN_MS = 2_000;
const PAUSE_MS = 40;
/** Each key gets so many turns of all clients, so that what is in doubt stays among few others. */
const TURNS_OF_A_KEY = 40;

const PROBES = ['livez', 'readyz', 'health'] as const;
const PROBE_EVERY_MS = 300;

export interface Told {
  readonly verdict: Verdict;
  /** Between two writes that were acknowledged, of whichever client. */
  readonly longestPauseMs: number;
  readonly writes: number;
  /** Probes that were answered, by path. */
  readonly probes: Readonly<Record<string, number>>;
}

export class UpgradeTraffic {
  readonly #operations: Operation[] = [];
  readonly #keys = new Set<string>();
  readonly #ends = new AbortController();
  readonly #probes: Record<string, number> = {};
  readonly #admin: EtcdAdmin;
  readonly #work: Promise<unknown>;

  /** `addresses`: those of the pods, which stay the same in the life of a member. */
  constructor(admin: EtcdAdmin, addresses: readonly string[]) {
    this.#admin = admin;
    const clients = Array.from({ length: CLIENTS }, (_, number) => this.#write(number));
    const probed = addresses.flatMap((address) => PROBES.map((path) => this.#probe(address, path)));
    this.#work = Promise.all([...clients, ...probed]);
  }

  get writes(): number {
    return this.#acknowledged().length;
  }

  async stop(): Promise<Told> {
    this.#ends.abort();
    await this.#work;
    const reader = new RecordedClient(this.#admin, this.#operations, CLIENTS);
    for (const key of this.#keys) await reader.get(key);
    const times = this.#acknowledged().map((one) => one.return / 1_000);
    const pauses = times.slice(1).map((time, index) => time - (times[index] ?? time));
    return {
      verdict: await checkHistory(this.#operations),
      longestPauseMs: Math.round(Math.max(0, ...pauses)),
      writes: times.length,
      probes: this.#probes,
    };
  }

  /** In the order in which they came back. */
  #acknowledged(): readonly Operation[] {
    const writes = this.#operations.filter(({ op, outcome }) => op !== 'get' && outcome === 'ok');
    return writes.toSorted((a, b) => a.return - b.return);
  }

  async #write(number: number): Promise<void> {
    const client = new RecordedClient(this.#admin, this.#operations, number);
    for (let turn = 0; !this.#ends.signal.aborted; turn += 1) {
      const key = `key-${Math.floor(turn / TURNS_OF_A_KEY)}`;
      const value = `${number}.${turn}`;
      this.#keys.add(key);
      await client.put(key, value, WITHIN_MS);
      await client.get(key, WITHIN_MS);
      await client.swap(key, value, `${value}+`, WITHIN_MS);
      await systemClock.sleep(PAUSE_MS);
    }
  }

  /** A member that is being restarted does not answer; what it answers is counted. */
  async #probe(address: string, path: string): Promise<void> {
    while (!this.#ends.signal.aborted) {
      const signal = AbortSignal.timeout(WITHIN_MS);
      const url = `http://${address}:2381/${path}`;
      const answer = await fetch(url, { signal }).catch(() => undefined);
      await answer?.text().catch(() => undefined);
      if (answer?.ok === true) this.#probes[path] = (this.#probes[path] ?? 0) + 1;
      await systemClock.sleep(PROBE_EVERY_MS);
    }
  }
}
