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
  readonly #kube: KubeClient;
  readonly #at: { readonly namespace: string; readonly name: string };
  readonly #client: LegacyClient;
  readonly #stopped = new AbortController();
  #loop: Promise<void> = Promise.resolve();

  constructor(
    kube: KubeClient,
    at: { readonly namespace: string; readonly name: string },
    client: LegacyClient,
  ) {
    this.#kube = kube;
    this.#at = at;
    this.#client = client;
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

  /** As kube-proxy leads a new connection. */
  async #resolve(): Promise<string> {
    const service = await this.#kube.get(SERVICES, this.#at);
    const selector = Object(Object(service?.['spec']).selector) as Record<string, string>;
    const labelSelector = Object.entries(selector)
      .map((pair) => pair.join('='))
      .join(',');
    const { namespace } = this.#at;
    const { items } = await this.#kube.list(PODS, { namespace, labelSelector });
    const ips = items.map(({ status }) => String(Object(status).podIP));
    const [ip] = ips.filter((one) => one !== 'undefined').toSorted(() => Math.random() - 0.5);
    if (ip === undefined) throw new Error('it leads to nobody');
    return this.#client.urlAt(ip);
  }
}
