// Stands between the adapter and the function, and does to events what networks and queues do:
// loses them, sends them twice, in another order, or late; and forges some. It answers the adapter
// as the function would.
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { type Clock, systemClock } from '../../shared/clock.ts';
import { type RelayedEvent, forge, nameOf } from './forgery.ts';
import type { Random } from './random.ts';

export const MANGLINGS = ['drop', 'double', 'reorder', 'delay', 'forge', 'misplace'] as const;
export type Mangling = (typeof MANGLINGS)[number];

/** How likely each is, for an event that arrives; what is not named does not happen. */
export type Odds = Readonly<Partial<Record<Mangling, number>>>;

/** Within it events may come in any order. */
const WINDOW = 5;
/** The function gives up by itself before. */
const FORWARD_TIMEOUT_MS = 10_000;
const OVERTAKEN_BY_MAX = 12;
/** Events of one change come within milliseconds of each other. */
const QUIET_MS = 150;

const TAKEN = 202;
const AWAY = 503;

export class Relay {
  readonly mangled: Record<Mangling, number> = {
    drop: 0,
    double: 0,
    reorder: 0,
    delay: 0,
    forge: 0,
    misplace: 0,
  };
  received = 0;
  /** Events that no instance took: a broker would send them again, the adapter alone does not. */
  lost = 0;
  /** Objects about which something untrue was said: `Pod default/p1`. */
  readonly slandered = new Set<string>();
  /** Where the instances of the function listen; events go to them in turn. */
  targets: readonly string[] = [];
  readonly #clock: Clock;
  readonly #server: Server;
  #odds: Odds = {};
  #random: Random | undefined;
  #turn = 0;
  #window: RelayedEvent[] = [];
  #late: { readonly event: RelayedEvent; left: number }[] = [];
  /** Events that an instance was handed and has not answered for. */
  inFlight = 0;
  #lastMs = 0;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
    this.#server = createServer((request, response) => {
      void this.#take(request, response);
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the relay has no port');
    return `http://127.0.0.1:${address.port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  mangle(odds: Odds, random: Random): void {
    this.#odds = { ...this.#odds, ...odds };
    this.#random = random;
  }

  /** Sends now all that is still held back, in the wrong order. */
  async straighten(): Promise<void> {
    this.#odds = {};
    const held = [...this.#late.map(({ event }) => event), ...this.#window];
    this.#late = [];
    this.#window = [];
    for (const event of held) await this.send(event);
  }

  /** Resolves when nothing is under way, and nothing came for a moment. */
  async quiet(): Promise<void> {
    while (this.inFlight > 0 || this.#clock.nowMs() - this.#lastMs < QUIET_MS) {
      await this.#clock.sleep(QUIET_MS / 10);
    }
  }

  /** Hands it to the next instance; answers what that answered. */
  async send({ headers, body }: RelayedEvent): Promise<number> {
    const target = this.targets[this.#turn % Math.max(1, this.targets.length)];
    this.#turn += 1;
    const signal = AbortSignal.timeout(FORWARD_TIMEOUT_MS);
    this.inFlight += 1;
    try {
      if (target === undefined) throw new Error('no instance');
      const { status } = await fetch(target, { method: 'POST', headers, body, signal });
      if (status >= 500) this.lost += 1;
      return status;
    } catch {
      // A target that cannot be reached takes nothing, whatever the reason.
      this.lost += 1;
      return AWAY;
    } finally {
      this.inFlight -= 1;
      this.#lastMs = this.#clock.nowMs();
    }
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#lastMs = this.#clock.nowMs();
    this.inFlight += 1;
    try {
      const event = await read(request);
      this.received += 1;
      response.writeHead(await this.#relay(event)).end();
      await this.#releaseLate();
    } catch {
      // The adapter was killed in the middle of it: there is nobody to answer.
      response.destroy();
    } finally {
      this.inFlight -= 1;
    }
  }

  async #relay(event: RelayedEvent): Promise<number> {
    const mangling = this.#fate();
    if (mangling === undefined) return this.send(event);
    this.mangled[mangling] += 1;
    switch (mangling) {
      case 'drop':
        return TAKEN;
      case 'double':
        return (await Promise.all([this.send(event), this.send(event)]))[0];
      case 'reorder':
        return this.#hold(event);
      case 'delay':
        this.#late.push({ event, left: this.#random?.between(1, OVERTAKEN_BY_MAX) ?? 1 });
        return TAKEN;
      default:
        return this.#forge(event, mangling);
    }
  }

  #fate(): Mangling | undefined {
    let left = this.#random?.next() ?? 1;
    for (const mangling of MANGLINGS) {
      left -= this.#odds[mangling] ?? 0;
      if (left < 0) return mangling;
    }
    return undefined;
  }

  async #hold(event: RelayedEvent): Promise<number> {
    this.#window.push(event);
    if (this.#window.length < WINDOW) return TAKEN;
    const window = this.#window;
    this.#window = [];
    for (const one of this.#random?.shuffled(window) ?? window) await this.send(one);
    return TAKEN;
  }

  async #forge(event: RelayedEvent, about: 'forge' | 'misplace'): Promise<number> {
    const forged = this.#random === undefined ? undefined : forge(event, about, this.#random);
    if (forged !== undefined) {
      this.slandered.add(nameOf(event));
      this.slandered.add(nameOf(forged));
      await this.send(forged);
    }
    return this.send(event);
  }

  async #releaseLate(): Promise<void> {
    for (const one of this.#late) one.left -= 1;
    const due = this.#late.filter(({ left }) => left <= 0);
    this.#late = this.#late.filter(({ left }) => left > 0);
    for (const { event } of due) await this.send(event);
  }
}

async function read(request: IncomingMessage): Promise<RelayedEvent> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk as Uint8Array);
  const kept = Object.entries(request.headers).filter(
    ([name]) => name.startsWith('ce-') || name === 'content-type',
  );
  return {
    headers: Object.fromEntries(kept.map(([name, value]) => [name, String(value)])),
    body: Buffer.concat(chunks).toString(),
  };
}
