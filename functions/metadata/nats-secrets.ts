// The Secrets with the address of a feed's NATS, each held by a watch of its own. Loaded with the
// first feed that names one: most feeds name none.
import { Failure } from '../../shared/errors.ts';
import type { Clock } from '../../shared/clock.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import { isRecord } from '../../shared/kube/json.ts';
import type { MeterRegistry } from '../../shared/kube/narrow-cache/meters.ts';
import { type NarrowCache, narrowCache } from '../../shared/kube/narrow-cache/narrow-cache.ts';
import { accessIn } from '../../shared/nats/access.ts';
import type { FeedNats } from './session.ts';

const SECRETS = { group: '', version: 'v1', resource: 'secrets' } as const;

export interface NatsSecretsOptions {
  readonly kube: KubeClient;
  readonly clock: Clock;
  readonly log: { warn(fields: object, message: string): void };
  readonly metrics?: MeterRegistry | undefined;
  readonly namespace: string;
  /** A Secret that a feed names was made, changed or deleted. */
  onChange(): void;
}

export class NatsSecrets {
  readonly #options: NatsSecretsOptions;
  readonly #cache: NarrowCache;
  readonly #stops = new Map<string, () => void>();

  constructor(options: NatsSecretsOptions) {
    this.#options = options;
    const { kube, clock, log, metrics } = options;
    this.#cache = narrowCache(kube, { clock, log, ...(metrics === undefined ? {} : { metrics }) });
  }

  /** Reads the Secret. `asker` names the feed in errors. */
  async nats(name: string, asker: string, signal: AbortSignal): Promise<FeedNats> {
    try {
      return await this.#read(name, asker, signal);
    } catch (error) {
      if (!isKubeError(error, 'KUBE_FORBIDDEN')) throw error;
      const grant = `npm run -s rights -- metadata --secret ${name} | kubectl apply -f -`;
      const message =
        `${asker} is to use Secret ${this.#options.namespace}/${name}, which this function may ` +
        `not read. Grant it, and it is tried again: ${grant}`;
      throw new Failure('FEED_NATS_UNKNOWN', message, { object: asker, cause: error });
    }
  }

  async #read(name: string, asker: string, signal: AbortSignal): Promise<FeedNats> {
    const { kube, namespace } = this.#options;
    const at = { namespace, name };
    this.#follow(name);
    const cached = natsIn(await this.#cache.get(SECRETS, at, { signal }), at);
    if (cached !== undefined) return cached;
    // A Secret created a moment ago may not be in the cache yet, so it is read before it is
    // refused.
    const secret = await kube.get(SECRETS, at, { signal });
    const nats = natsIn(secret, at);
    if (nats !== undefined) return nats;
    const problem =
      secret === null ? 'does not exist' : 'has no key url that is the address of a NATS';
    const intent = `${asker} is to use Secret ${namespace}/${name}`;
    const message = `${intent}, which ${problem}. It is tried again.`;
    throw new Failure('FEED_NATS_UNKNOWN', message, { object: asker });
  }

  #follow(name: string): void {
    if (this.#stops.has(name)) return;
    const at = { namespace: this.#options.namespace, name };
    const stop = this.#cache.source(SECRETS, at, ({ old }) => {
      // The first read is no change.
      if (old !== undefined) this.#options.onChange();
    });
    this.#stops.set(name, stop);
  }

  /** Ends the watches of all other Secrets. */
  keepOnly(names: ReadonlySet<string>): void {
    for (const [name, stop] of this.#stops) {
      if (names.has(name)) continue;
      stop();
      this.#stops.delete(name);
    }
  }

  close(): void {
    this.#cache.close();
  }
}

/** Undefined when the Secret holds no address. The connection reports other faults. */
function natsIn(
  secret: Readonly<Record<string, unknown>> | null | undefined,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): FeedNats | undefined {
  const data = decoded(secret?.['data']);
  const { url = '' } = data;
  if (!URL.canParse(url)) return undefined;
  const access = accessIn(data);
  return { url, access: { from: `Secret ${namespace}/${name}`, read: () => access } };
}

/** Secrets hold their values in base64. */
function decoded(data: unknown): Readonly<Record<string, string>> {
  if (!isRecord(data)) return {};
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [
      key,
      Buffer.from(String(value), 'base64').toString(),
    ]),
  );
}
