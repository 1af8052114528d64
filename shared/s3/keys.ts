// The keys of one bucket, whenever a request is signed: read where they are kept, or borrowed by
// the identity of a pod, and used until they are about to end.
import type { Clock } from '../clock.ts';
import { type Credentials, type CredentialSource, readCredentials } from './credentials.ts';
import { borrowKeys, type Lent } from './identity.ts';

/** A request may wait that long, and clocks differ. */
const SPARE_MS = 5 * 60_000;

export class Keys {
  readonly #source: CredentialSource;
  readonly #clock: Clock;
  #lent: Lent | undefined;

  constructor(source: CredentialSource, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
  }

  async read(signal?: AbortSignal): Promise<Credentials> {
    if (!('identity' in this.#source)) return readCredentials(this.#source);
    const isFresh = (this.#lent?.endsAtMs ?? 0) - SPARE_MS > this.#clock.nowMs();
    if (this.#lent === undefined || !isFresh) {
      this.#lent = await borrowKeys(this.#source.identity, signal);
    }
    return this.#lent.credentials;
  }
}
