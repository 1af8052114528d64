// A writer on the client Service: it keeps its connection as long as writes are taken, and goes
// where the Service leads when one is refused. It knows every write that was acknowledged.
import { systemClock } from '../../../shared/clock.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { PODS, SERVICES } from '../../../shared/stateful/parts.ts';
import type { LegacyClient } from './legacy-client.ts';

const PAUSE_MS = 50;

export interface Written {
  readonly key: string;
  readonly url: string;
  readonly atMs: number;
}

export class Writer {
  readonly written: Written[] = [];
  readonly #client: LegacyClient;
  readonly #resolve: () => Promise<string>;
  readonly #stopped = new AbortController();
  #loop: Promise<void> = Promise.resolve();

  /** It asks `resolve` for a URL before each new connection. */
  constructor(client: LegacyClient, resolve: () => Promise<string>) {
    this.#client = client;
    this.#resolve = resolve;
  }

  /** The longest time without an acknowledgement. */
  get longestPauseMs(): number {
    const times = this.written.map(({ atMs }) => atMs);
    return Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? at)));
  }

  start(): void {
    this.#loop = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#loop;
    this.#client.close();
  }

  async #run(): Promise<void> {
    let url: string | undefined;
    for (let count = 0; !this.#stopped.signal.aborted; count += 1) {
      const key = `written/${count}`;
      try {
        url ??= await this.#resolve();
        await this.#client.put(url, key, key);
        this.written.push({ key, url, atMs: systemClock.nowMs() });
      } catch {
        url = undefined;
      }
      await systemClock.sleep(PAUSE_MS);
    }
  }
}

/** Any pod of a Service, as kube-proxy would lead there where there is none. */
export const podOfService =
  (kube: KubeClient, at: { readonly namespace: string; readonly name: string }) =>
  async (): Promise<string> => {
    const service = await kube.get(SERVICES, at);
    const selector = Object(Object(service?.['spec']).selector) as Record<string, string>;
    const labelSelector = Object.entries(selector)
      .map((pair) => pair.join('='))
      .join(',');
    const { namespace } = at;
    const { items } = await kube.list(PODS, { namespace, labelSelector });
    const ips = items.map(({ status }) => String(Object(status).podIP));
    const [ip] = ips.filter((one) => one !== 'undefined').toSorted(() => Math.random() - 0.5);
    if (ip === undefined) throw new Error('it leads to nobody');
    return ip;
  };
