// Writers and readers of an etcd, each with a connection of its own, while something is done to its
// members. At the end: whether what they saw is the history of one store, with every acknowledged
// write in it, and the longest time without an acknowledgement.
import type { EtcdAdmin } from '../../shared/etcd/admin.ts';
import { systemClock } from '../../shared/clock.ts';
import { checkHistory, type Operation, RecordedClient, type Verdict } from './etcd-history.ts';
import { until } from './versioned-kind.ts';

export interface EtcdTrafficReport extends Verdict {
  readonly acknowledged: number;
  /** Nobody knows whether they were done. */
  readonly inDoubt: number;
  readonly longestPauseMs: number;
}

const WRITERS = 2;
const READERS = 2;
/** Each one's, between two turns: a change has a connection and a handshake of its own. */
const BETWEEN_MS = 100;
const TIMEOUT_MS = 2_000;
/** Keys that all of them work on. */
const SHARED = 2;
/** One after the other, so that a write has a past when it is undone. */
const DELETE_EVERY = 5;
/** Acknowledgements after which it is certain that something did not stop the traffic. */
const SOME = 10;
const READ_WITHIN_MS = 60_000;

export class EtcdTraffic {
  #open: () => EtcdAdmin;
  readonly #admins: EtcdAdmin[] = [];
  readonly #clients: RecordedClient[] = [];
  readonly #history: Operation[] = [];
  readonly #prefix: string;
  readonly #startedAt = performance.now() * 1_000;
  #isOn = true;
  readonly #work: Promise<void>[] = [];

  private constructor(open: () => EtcdAdmin, prefix: string) {
    this.#open = open;
    this.#prefix = prefix;
  }

  /** Its keys begin with `prefix`. */
  static start(open: () => EtcdAdmin, prefix: string): EtcdTraffic {
    const traffic = new EtcdTraffic(open, prefix);
    traffic.reopen(open);
    for (let number = 0; number < WRITERS + READERS; number += 1) {
      const turn = number < WRITERS ? traffic.#write(number) : traffic.#read(number);
      // `stop` tells what it fails with.
      turn.catch(() => (traffic.#isOn = false));
      traffic.#work.push(turn);
    }
    return traffic;
  }

  /** The history of it, while the work is done, has to be one of a store. */
  static async during(
    what: string,
    open: () => EtcdAdmin,
    work: (traffic: EtcdTraffic) => Promise<void>,
  ): Promise<void> {
    const traffic = EtcdTraffic.start(open, what.replaceAll(' ', '-'));
    try {
      await traffic.untilItFlows();
      await work(traffic);
      await traffic.untilItFlows();
      reported(what, await traffic.stop());
    } finally {
      await traffic.close();
    }
  }

  /** As clients that are started again: the address and the authority may be others by now. */
  reopen(open: () => EtcdAdmin): void {
    this.#open = open;
    for (let number = 0; number < WRITERS + READERS; number += 1) {
      this.#clients[number] = this.#client(number);
    }
  }

  get acknowledged(): number {
    return this.#writes('ok').length;
  }

  /** Writes go on being acknowledged. */
  async untilItFlows(): Promise<void> {
    const before = this.acknowledged;
    const flows = () => !this.#isOn || this.acknowledged > before + SOME;
    await until('writes to be acknowledged', flows, READ_WITHIN_MS);
  }

  /** Ends the clients, reads every key once more, and checks. */
  async stop(): Promise<EtcdTrafficReport> {
    try {
      this.#isOn = false;
      await Promise.all(this.#work);
      await this.#readAll();
      return {
        ...(await checkHistory(this.#history)),
        acknowledged: this.acknowledged,
        inDoubt: this.#writes('unknown').length,
        longestPauseMs: Math.round(this.#longestPause() / 1_000),
      };
    } finally {
      await this.close();
    }
  }

  /** Whatever it has come to: with its test it must not go on. */
  async close(): Promise<void> {
    this.#isOn = false;
    await Promise.allSettled(this.#work);
    await Promise.all(this.#admins.map((admin) => admin.close()));
  }

  #client(number: number): RecordedClient {
    const admin = this.#open();
    this.#admins.push(admin);
    return new RecordedClient(admin, this.#history, number);
  }

  /** One key of its own at each turn, and one that the others have too. */
  async #write(number: number): Promise<void> {
    for (let turn = 0; this.#isOn; turn += 1) {
      const client = this.#clients[number] ?? this.#client(number);
      const value = `${number}.${turn}`;
      await client.put(`${this.#prefix}/own/${value}`, value, TIMEOUT_MS);
      await systemClock.sleep(BETWEEN_MS);
      const shared = this.#shared(turn);
      if (turn % DELETE_EVERY === number) await client.delete(shared, TIMEOUT_MS);
      else if (turn % 2 === 0) await client.put(shared, value, TIMEOUT_MS);
      else await client.swap(shared, this.#lastRead(shared), value, TIMEOUT_MS);
      await systemClock.sleep(BETWEEN_MS);
    }
  }

  async #read(number: number): Promise<void> {
    for (let turn = 0; this.#isOn; turn += 1) {
      const client = this.#clients[number] ?? this.#client(number);
      await client.get(this.#shared(turn), TIMEOUT_MS);
      await systemClock.sleep(BETWEEN_MS);
    }
  }

  #shared(turn: number): string {
    return `${this.#prefix}/shared/${turn % SHARED}`;
  }

  #lastRead(key: string): string {
    const read = this.#history.findLast(
      (one) => one.key === key && one.op === 'get' && one.outcome === 'ok',
    );
    return read?.value ?? 'none';
  }

  /** Until each was read: a write that is lost is one that nobody asks for. */
  async #readAll(): Promise<void> {
    const client = this.#client(WRITERS + READERS);
    const keys = new Set(this.#history.map(({ key }) => key));
    for (const key of keys) {
      await until(
        `a read of ${key}`,
        async () => {
          await client.get(key, TIMEOUT_MS);
          return this.#history.at(-1)?.outcome === 'ok';
        },
        READ_WITHIN_MS,
      );
    }
  }

  #writes(outcome: Operation['outcome']): readonly Operation[] {
    return this.#history.filter((one) => one.op !== 'get' && one.outcome === outcome);
  }

  #longestPause(): number {
    const times = this.#writes('ok').map((one) => one.return);
    const all = [this.#startedAt, ...times.toSorted((one, other) => one - other)];
    return Math.max(...all.slice(1).map((at, index) => at - (all[index] ?? at)));
  }
}

/** Checks it, and prints its figures. */
function reported(life: string, report: EtcdTrafficReport): void {
  process.stdout.write(`${life}: ${JSON.stringify(report)}\n`);
  if (report.result !== 'linearizable') throw new Error(`${life} is ${report.result}`);
}
