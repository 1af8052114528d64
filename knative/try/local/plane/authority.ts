// The certificate authority of a control plane that lives shorter than what it signs.
import {
  type Identity,
  issue,
  makeAuthority,
  type Subject,
  type Validity,
} from '../../../../shared/x509.ts';

const DAY_MS = 86_400_000;
/** Nobody renews: whoever signs lives shorter than this. */
const VALID_DAYS = 365;

export class Authority {
  readonly #own: Identity;

  constructor(name: string) {
    this.#own = makeAuthority(name, forAYear());
  }

  get certPem(): string {
    return this.#own.certPem;
  }

  get keyPem(): string {
    return this.#own.keyPem;
  }

  issue(subject: Subject): Identity {
    return issue(this.#own, subject, forAYear());
  }
}

/** From yesterday on: clocks of others may be behind. */
const forAYear = (): Validity => ({
  fromMs: Date.now() - DAY_MS,
  toMs: Date.now() + VALID_DAYS * DAY_MS,
});
