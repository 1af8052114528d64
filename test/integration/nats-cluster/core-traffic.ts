// Clients that publish and subscribe all the time without JetStream, while something is done to the
// servers: round by round, each begun once all have heard the one before, or a moment later. At the
// end: what was lost, and how much of that while neither the one who published nor the one who was
// to hear it was away. Their library connects anew by itself.
import { connect, Events, type NatsConnection } from 'nats';
import { systemClock } from '../../../shared/clock.ts';
import { until } from '../../builders/versioned-kind.ts';

export interface CoreTrafficOptions {
  readonly server: string;
  readonly user: string;
  readonly pass: string;
  readonly tls: { readonly ca: string; readonly servername: string } | undefined;
  readonly clients: number;
}

export interface CoreReport {
  /** Messages, each as often as somebody was to hear it. */
  readonly sent: number;
  readonly lost: number;
  /** Those of them that nobody's absence explains. */
  readonly unexplained: number;
  /** When the first of these were sent. */
  readonly unexplainedAt: readonly string[];
  readonly reconnects: number;
  readonly longestAwayMs: number;
  /** From the first message that one did not hear of another to the next that it heard. */
  readonly longestUnheardMs: number;
}

const BETWEEN_MS = 50;
const RECONNECT_MS = 100;
/** The others go on without one who is away. */
const ROUND_MAX_MS = 300;
/** A message may still be under way when one goes, and an interest when one is back. */
const ROUNDS_UNDER_WAY = 2;
/** Gaps that are told. */
const SOME = 10;
/** Whom each hears, by how far behind it they come. */
const HEARD = [1, 7];

interface Away {
  readonly from: number;
  readonly fromMs: number;
  to: number;
  toMs: number;
}

/** Rounds in a row of which one has heard nothing from another. */
interface Gap {
  readonly from: number;
  readonly to: number;
  readonly isExplained: boolean;
}

const lengthOf = (gaps: readonly Gap[]): number =>
  gaps.reduce((sum, { from, to }) => sum + to - from + 1, 0);

const NOT_YET = Number.POSITIVE_INFINITY;

class Client {
  readonly nats: NatsConnection;
  readonly away: Away[] = [];
  /** Rounds by publisher. */
  readonly heard = new Map<number, Set<number>>();

  constructor(nats: NatsConnection) {
    this.nats = nats;
  }

  get isAway(): boolean {
    return this.away.at(-1)?.to === NOT_YET;
  }

  /** A gap begins when its server stops to read, and ends when the others know it anew. */
  wasAwayIn(gap: Pick<Gap, 'from' | 'to'>): boolean {
    return this.away.some(
      ({ from, to }) => gap.to >= from - ROUNDS_UNDER_WAY && gap.from <= to + ROUNDS_UNDER_WAY,
    );
  }

  async watch(roundNow: () => number): Promise<void> {
    for await (const { type } of this.nats.status()) {
      const [round, nowMs] = [roundNow(), systemClock.nowMs()];
      const last = this.away.at(-1);
      if (type === Events.Disconnect) {
        this.away.push({ from: round, fromMs: nowMs, to: NOT_YET, toMs: nowMs });
      } else if (type === Events.Reconnect && last !== undefined) {
        Object.assign(last, { to: round, toMs: nowMs });
      }
    }
  }

  hear(publisher: number): void {
    const heard = new Set<number>();
    this.heard.set(publisher, heard);
    this.nats.subscribe(`core.${publisher}`, {
      callback: (_, message) => void heard.add(Number(message.string())),
    });
  }

  hasHeard(round: number): boolean {
    return [...this.heard.values()].every((rounds) => rounds.has(round));
  }
}

export class CoreTraffic {
  readonly #clients: readonly Client[];
  #publishing: Promise<void> = Promise.resolve();
  #round = 0;
  readonly #sentAtMs: number[] = [];
  #isOn = true;

  private constructor(clients: readonly Client[]) {
    this.#clients = clients;
    clients.forEach((client, at) => {
      void client.watch(() => this.#round);
      for (const behind of HEARD) client.hear((at + behind) % clients.length);
    });
  }

  static async start(options: CoreTrafficOptions): Promise<CoreTraffic> {
    const { server: servers, clients, user, pass, tls } = options;
    const encrypted = tls === undefined ? {} : { tls };
    const how = { servers, user, pass, ...encrypted, reconnectTimeWait: RECONNECT_MS };
    const opened = Array.from({ length: clients }, () =>
      connect({ ...how, maxReconnectAttempts: -1 }),
    );
    const all = await Promise.all(opened);
    const traffic = new CoreTraffic(all.map((nats) => new Client(nats)));
    await until('all to hear each other', () => traffic.#isHeardAgain());
    traffic.#publishing = traffic.#publish();
    return traffic;
  }

  /** A message before servers have told each other of subscriptions is one that nobody can hear. */
  #isHeardAgain(): boolean {
    if (this.#isHeard()) return true;
    this.#say(0);
    return false;
  }

  async #publish(): Promise<void> {
    while (this.#isOn) {
      this.#say(this.#round);
      const endMs = systemClock.nowMs() + ROUND_MAX_MS;
      do await systemClock.sleep(BETWEEN_MS);
      while (!this.#isHeard() && systemClock.nowMs() < endMs);
      this.#round += 1;
    }
  }

  #say(round: number): void {
    this.#sentAtMs[round] = systemClock.nowMs();
    this.#clients.forEach(({ nats }, at) => nats.publish(`core.${at}`, String(round)));
  }

  #isHeard(): boolean {
    return this.#clients.every((client) => client.hasHeard(this.#round));
  }

  /** All are connected, and so many more rounds are over. */
  async goesOn(rounds: number): Promise<void> {
    await until('all clients to be back', () => !this.#clients.some(({ isAway }) => isAway));
    const enough = this.#round + rounds;
    await until('more rounds', () => this.#round >= enough);
  }

  /** So many connect anew, to wherever they are led by now. */
  async reconnect(clients: number): Promise<void> {
    await Promise.all(this.#clients.slice(0, clients).map(({ nats }) => nats.reconnect()));
    await this.goesOn(1);
  }

  /** Ends it, once everybody has heard the last word of all whom he hears. */
  async report(): Promise<CoreReport> {
    this.#isOn = false;
    await this.#publishing;
    this.#say(this.#round);
    await until('the last words', () => this.#isHeard());
    const gaps = this.#clients.flatMap((client) => this.#gapsOf(client));
    const open = gaps.filter(({ isExplained }) => !isExplained);
    const away = this.#clients.flatMap((client) => client.away);
    return {
      sent: this.#round * this.#clients.length * HEARD.length,
      lost: lengthOf(gaps),
      unexplained: lengthOf(open),
      unexplainedAt: open
        .map(({ from }) => new Date(this.#sentAt(from)).toISOString())
        .slice(0, SOME),
      reconnects: away.length,
      longestAwayMs: Math.max(0, ...away.map(({ fromMs, toMs }) => toMs - fromMs)),
      longestUnheardMs: Math.max(
        0,
        ...gaps.map(({ from, to }) => this.#sentAt(to + 1) - this.#sentAt(from)),
      ),
    };
  }

  #sentAt(round: number): number {
    return this.#sentAtMs[round] ?? 0;
  }

  /** Each gap in what it heard, and whether one of the two was away in between. */
  #gapsOf(client: Client): readonly Gap[] {
    return [...client.heard].flatMap(([publisher, heard]) => {
      const gaps: { from: number; to: number }[] = [];
      for (let round = 0; round < this.#round; round += 1) {
        const last = gaps.at(-1);
        if (heard.has(round)) continue;
        if (last?.to === round - 1) last.to = round;
        else gaps.push({ from: round, to: round });
      }
      const both = [client, this.#clients[publisher]];
      return gaps.map((gap) => ({
        ...gap,
        isExplained: both.some((one) => one?.wasAwayIn(gap) === true),
      }));
    });
  }

  async close(): Promise<void> {
    this.#isOn = false;
    await this.#publishing;
    await Promise.all(this.#clients.map(({ nats }) => nats.close()));
  }
}
