// Whether a bearer token is one of the cluster's, for us, still good, and of a sender that is
// allowed. Loaded with the first token: who is told by addresses alone never pays for it.
import { type JWTPayload, decodeJwt, errors, jwtVerify } from 'jose';
import type { Clock } from '../../clock.ts';
import { Failure } from '../../errors.ts';
import { Issuer, type IssuerKeys, KEYS_RETRY_AFTER_MS, type ReadApiServer } from './issuer.ts';

export interface TokenRules {
  readonly audience: string;
  /** Whole, or their beginning with a `*` behind it. */
  readonly subjects: readonly string[];
}

/** Clocks of nodes that are kept by NTP differ by less; Knative renews tokens 5 min ahead. */
const CLOCK_SKEW_SECONDS = 30;
/**
 * Algorithms with which an API server can be configured to sign. All are asymmetric: `none` or a
 * shared secret could be forged.
 */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512'];

/** A token that was believed needs no second look until then. */
export interface Believed {
  readonly untilMs: number;
}

export class Tokens {
  readonly #rules: TokenRules;
  readonly #issuer: Issuer;
  readonly #clock: Clock;

  constructor(rules: TokenRules, read: ReadApiServer, clock: Clock) {
    this.#rules = rules;
    this.#issuer = new Issuer(read, clock);
    this.#clock = clock;
  }

  /** Throws a Failure for a token that is not good, and while nobody can tell. */
  async verify(token: string): Promise<Believed> {
    const payload = await this.#payloadOf(token);
    const { sub = '', exp = 0 } = payload;
    if (!this.#rules.subjects.some((pattern) => matches(pattern, sub))) throw forbidden(sub);
    return { untilMs: exp * 1_000 };
  }

  async #payloadOf(token: string): Promise<JWTPayload> {
    const keys = await this.#issuer.keys();
    try {
      return await this.#check(token, keys);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw invalid(error);
    }
    const newer = await this.#issuer.newerThan(keys);
    if (newer === undefined) throw unknownKey(issuedAtSeconds(token), keys);
    return this.#check(token, newer).catch((error: unknown) => {
      throw invalid(error);
    });
  }

  async #check(token: string, { issuer, find }: IssuerKeys): Promise<JWTPayload> {
    const { payload } = await jwtVerify(token, find, {
      issuer,
      audience: this.#rules.audience,
      algorithms: ALGORITHMS,
      clockTolerance: CLOCK_SKEW_SECONDS,
      currentDate: new Date(this.#clock.nowMs()),
      requiredClaims: ['sub', 'exp', 'iat'],
    });
    return payload;
  }
}

const matches = (pattern: string, subject: string): boolean =>
  pattern.endsWith('*') ? subject.startsWith(pattern.slice(0, -1)) : subject === pattern;

function forbidden(subject: string): Failure {
  const message =
    `${subject} may not send events here: if it is to, add it to SENDER_SUBJECTS of the ` +
    'function.';
  return new Failure('SENDER_SUBJECT_FORBIDDEN', message, { field: 'authorization' });
}

/** A token that is younger than the keys may be right, and its sender must not lose the event. */
function unknownKey(atSeconds: number, keys: IssuerKeys): Failure {
  if ((atSeconds + CLOCK_SKEW_SECONDS) * 1_000 <= keys.askedAtMs)
    return refused('is signed with a key of another issuer');
  const message =
    'The token is signed with a key that the API server has not named so far; it is asked ' +
    'again in some seconds: send the event again.';
  const detail = { field: 'authorization', retryAfterMs: KEYS_RETRY_AFTER_MS };
  return new Failure('SENDER_KEYS_UNAVAILABLE', message, detail);
}

/** As a stranger may have written it; the beginning of time when nobody can read it. */
function issuedAtSeconds(token: string): number {
  try {
    const seconds = Number(decodeJwt(token).iat);
    return Number.isFinite(seconds) ? seconds : 0;
  } catch (error) {
    if (!(error instanceof errors.JOSEError)) throw error;
    return 0;
  }
}

function invalid(error: unknown): unknown {
  if (!(error instanceof errors.JOSEError)) return error;
  return refused(reasonOf(error), error);
}

function reasonOf(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return 'has expired';
  if (error instanceof errors.JWKSNoMatchingKey) return 'is signed with a key of another issuer';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'has a wrong signature';
  if (!(error instanceof errors.JWTClaimValidationFailed)) return 'cannot be read';
  if (error.claim === 'aud') return 'is for another audience';
  if (error.claim === 'iss') return 'comes from another issuer';
  if (error.claim === 'nbf') return 'is not valid yet';
  return `lacks a usable ${error.claim}`;
}

function refused(reason: string, cause?: unknown): Failure {
  const message =
    `The bearer token ${reason}. Send one that the API server has issued for the audience of ` +
    'this function (SENDER_AUDIENCE).';
  const detail = { field: 'authorization', ...(cause === undefined ? {} : { cause }) };
  return new Failure('SENDER_TOKEN_INVALID', message, detail);
}
