// Keeps the certificate of the function: it is in a Secret with its authority, which all replicas
// read and any of them renews. A replica shows another certificate only once the definitions have
// the authority of it, and leaves them the former one for as long as others may show that.
import type { Clock } from '../../shared/clock.ts';
import type { Scope } from '../../shared/function/define.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import { dataAt, type Issued } from '../../shared/stateful/certificates/renewal.ts';
import {
  certificatesIn,
  dataOf,
  encoded,
  endsAtMs,
  type SecretData,
} from '../../shared/stateful/certificates/secret-data.ts';
import { SECRETS } from '../../shared/stateful/parts.ts';
import { type ServedBy, writeBundle } from './bundle.ts';

const LISTENER = 'webhook';
/** A certificate is renewed a month before its end, so that a look in a minute is soon enough. */
const LOOK_EVERY_MS = 60_000;
/** After a look that failed or that changed something. An API server has a new bundle by then. */
const LOOK_AGAIN_MS = 5_000;
/** Ten looks of the other replicas. */
export const OVERLAP_MS = 600_000;

export interface Shown {
  readonly certificate: string;
  readonly key: string;
}

export interface KeeperOptions {
  readonly kube: KubeClient;
  readonly clock: Clock;
  readonly log: Scope['log'];
  readonly served: ServedBy;
  readonly show: (shown: Shown) => void;
}

interface Former {
  readonly authorities: readonly string[];
  readonly untilMs: number;
}

export class Keeper {
  readonly #options: KeeperOptions;
  #shown: { readonly files: Shown; readonly authorities: readonly string[] } | undefined;
  #former: readonly Former[] = [];

  constructor(options: KeeperOptions) {
    this.#options = options;
  }

  /** Until the signal aborts. A look that fails is logged, and comes again. */
  async keep(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    while (!signal.aborted) {
      let waitMs = LOOK_AGAIN_MS;
      try {
        if (await this.look(signal)) waitMs = LOOK_EVERY_MS;
      } catch (err) {
        if (signal.aborted) return;
        log.warn({ err }, 'the certificate could not be looked after');
      }
      await clock.sleep(waitMs, signal).catch(() => undefined);
    }
  }

  /** True when there was nothing to do. */
  async look(signal: AbortSignal): Promise<boolean> {
    const { kube, clock, served } = this.#options;
    const nowMs = clock.nowMs();
    const data = await this.#data(nowMs, signal);
    if (data === undefined) return false;
    const authorities = certificatesIn(data['ca.crt']);
    const files = {
      certificate: data[`${LISTENER}.crt`] ?? '',
      key: data[`${LISTENER}.key`] ?? '',
    };
    const isNew = this.#shown?.files.certificate !== files.certificate;
    this.#former = this.#former.filter(({ untilMs }) => untilMs > nowMs);
    const before = [...this.#former.flatMap((one) => one.authorities), ...this.#stillShown(isNew)];
    const living = before.filter((one) => endsAtMs(one) > nowMs);
    const bundle = [...new Set([...authorities, ...living])].join('');
    const written = await writeBundle(kube, served, bundle, signal);
    // API servers have to read what was written before they see a certificate of it.
    if (this.#shown !== undefined && isNew && written > 0) return false;
    if (isNew) this.#show(files, authorities, nowMs);
    return written === 0;
  }

  #stillShown(isNew: boolean): readonly string[] {
    return isNew ? (this.#shown?.authorities ?? []) : [];
  }

  #show(files: Shown, authorities: readonly string[], nowMs: number): void {
    const { show, log } = this.#options;
    if (this.#shown !== undefined) {
      const former = { authorities: this.#shown.authorities, untilMs: nowMs + OVERLAP_MS };
      this.#former = [...this.#former, former];
    }
    show(files);
    this.#shown = { files, authorities };
    const endsAt = new Date(endsAtMs(files.certificate)).toISOString();
    log.info({ endsAt }, 'another certificate is shown');
  }

  /** Undefined when another replica was first, or it was just written: the next look reads it. */
  async #data(nowMs: number, signal: AbortSignal): Promise<SecretData | undefined> {
    const { kube, served } = this.#options;
    const target = secretOf(served);
    const secret = await kube.get(SECRETS, target, { signal });
    if (secret === null) {
      const where = `${target.namespace}/${target.name}`;
      throw new Error(`There is no Secret ${where}; apply the manifests of conversion again.`);
    }
    const before = dataOf(secret);
    const data = dataAt(issuedFor(served), nowMs, before);
    if (data === before) return before;
    const { resourceVersion } = secret.metadata;
    const manifest = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...target, resourceVersion },
      data: encoded(data),
    };
    try {
      await kube.apply(SECRETS, manifest, { force: true, signal });
    } catch (error) {
      if (!isKubeError(error, 'KUBE_CONFLICT')) throw error;
    }
    return undefined;
  }
}

/** It is in the manifests, empty: nobody needs a right to create Secrets. */
export const secretOf = ({ namespace, service }: ServedBy) => ({
  namespace,
  name: `${service}-certificate`,
});

const issuedFor = ({ namespace, service }: ServedBy): Issued<typeof LISTENER> => ({
  owner: { kind: 'Service', namespace, name: service },
  listeners: [{ listener: LISTENER, hosts: hostsOf(namespace, service) }],
});

const hostsOf = (namespace: string, service: string): readonly [string, ...string[]] => [
  `${service}.${namespace}.svc`,
  `${service}.${namespace}.svc.cluster.local`,
];
