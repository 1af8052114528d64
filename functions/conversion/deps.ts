// Holds TLS before the plain port and the keeper of its certificate, when it is told to have them.
// The conversions themselves need nothing.
import type { Clock } from '../../shared/clock.ts';
import type { Scope } from '../../shared/function/define.ts';
import { type KubeClient, openKube } from '../../shared/kube/client.ts';
import { KeyReader } from '../../shared/kube/key-reader.ts';
import type { ServedBy } from './bundle.ts';
import { FIELD_MANAGER } from './field-manager.ts';
import { TlsFront } from './front.ts';
import { Keeper } from './keeper.ts';

export interface DepsOptions extends ServedBy {
  readonly kubeconfigPath: string | undefined;
  /** No TLS when absent. */
  readonly tlsPort: number | undefined;
  readonly clock: Clock;
  readonly log: Scope['log'];
}

export class Deps {
  readonly keys: KeyReader;
  readonly #options: DepsOptions;
  readonly #ending = new AbortController();
  #front: TlsFront | undefined;
  #kube: KubeClient | undefined;
  #keeping: Promise<void> | undefined;

  constructor(options: DepsOptions) {
    this.#options = options;
    this.keys = new KeyReader(this.#identity);
  }

  /** TLS listens from now on, and shows a certificate as soon as there is one. */
  async standBefore(port: number, host: string | undefined): Promise<void> {
    const { tlsPort, clock, log, namespace, service } = this.#options;
    if (tlsPort === undefined) return;
    const front = new TlsFront(port, host);
    this.#front = front;
    this.#kube = openKube(this.#identity);
    const tls = await front.listen(tlsPort);
    log.info({ port: tls }, 'listening with TLS');
    const keeper = new Keeper({
      kube: this.#kube,
      clock,
      log,
      served: { namespace, service },
      show: (shown) => front.show(shown),
    });
    this.#keeping = keeper.keep(this.#ending.signal);
  }

  async close(): Promise<void> {
    this.#ending.abort();
    await Promise.all([this.#front?.close(), this.#keeping, this.keys.close()]);
    await this.#kube?.close();
  }

  get #identity() {
    const { kubeconfigPath, log } = this.#options;
    return { kubeconfigPath, userAgent: FIELD_MANAGER, fieldManager: FIELD_MANAGER, log };
  }
}
