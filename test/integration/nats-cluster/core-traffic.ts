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
  readonly tls: { readonly ca: string; readonly servername: string };
  readonly clients: number;
}

export interface CoreReport {
  /** Messages, each as often as somebody was to hear it. */
  readonly sent: number;
  readonly lost: number;
  /** Those of them for which nobody was away. */
  readonly unexplained: number;
  /** When the first and the last of these were sent. */
  readonly unexplainedAt: readonly string[];
  readonly reconnects: number;
  readonly longestAwayMs: number;
}

const BETWEEN_MS = 50;
const RECONNECT_MS = 100;
/** The others go on without one who is away. */
const ROUND_MAX_MS = 300;
/** A message may still be under way when one goes, and an interest when one is back. */
const ROUNDS_UNDER_WAY = 2;
/** Whom each hears, by how far behind it they come. */
const HEARD = [1, 7];

interface Away {
  readonly from: number;
  readonly fromMs: number;
  to: number;
  toMs: number;
}

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

  wasAway(round: number): boolean {
    return this.away.some(
      ({ from, to }) => round >= from - ROUNDS_UNDER_WAY && round <= to + ROUNDS_UNDER_WAY,
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
    const how = { servers, user, pass, tls, reconnectTimeWait: RECONNECT_MS };
    const opened = Array.from({ length: clients }, () =>
      connect({ ...how, maxReconnectAttempts: -1 }),
    );
    const all = await Promise.all(opened);
    const traffic = new CoreTraffic(all.map((nats) => new Client(nats)));
    await Promise.all(all.map((nats) => nats.flush()));
    traffic.#publishing = traffic.#publish();
    return traffic;
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
    const lost = this.#clients.flatMap((client) => this.#lostTo(client));
    const unexplained = lost.filter(({ isExplained }) => !isExplained);
    const rounds = unexplained.map(({ round }) => round);
    const ends = rounds.length === 0 ? [] : [Math.min(...rounds), Math.max(...rounds)];
    const away = this.#clients.flatMap((client) => client.away);
    return {
      sent: this.#round * this.#clients.length * HEARD.length,
      lost: lost.length,
      unexplained: unexplained.length,
      unexplainedAt: ends.map((round) => new Date(this.#sentAtMs[round] ?? 0).toISOString()),
      reconnects: away.length,
      longestAwayMs: Math.max(0, ...away.map(({ fromMs, toMs }) => toMs - fromMs)),
    };
  }

  /** Each that it has lost, and whether somebody was away. */
  #lostTo(client: Client): readonly { readonly round: number; readonly isExplained: boolean }[] {
    return [...client.heard].flatMap(([publisher, heard]) => {
      const rounds = Array.from({ length: this.#round }, (_, round) => round);
      const lost = rounds.filter((round) => !heard.has(round));
      const other = this.#clients[publisher];
      return lost.map((round) => ({
        round,
        isExplained: client.wasAway(round) || other?.wasAway(round) === true,
      }));
    });
  }

  async close(): Promise<void> {
    this.#isOn = false;
    await this.#publishing;
    await Promise.all(this.#clients.map(({ nats }) => nats.close()));
  }
}
