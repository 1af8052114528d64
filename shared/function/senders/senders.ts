// Decides which senders are allowed: for every event before its body is read, and for plain HTTP
// where configured. The default is this machine alone. In a cluster senders are known by tokens
// from Knative, by their addresses, or both.
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../clock.ts';
import { Failure } from '../../errors.ts';
import type { RuntimeConfig } from '../runtime-config.ts';
import { AllowedAddresses, NOBODY_ELSE } from './addresses.ts';
import type { ReadApiServer } from './issuer.ts';
import type { Tokens } from './tokens.ts';

export type SenderConfig = Pick<
  RuntimeConfig,
  'senderAudience' | 'senderSubjects' | 'senderAddresses' | 'guardsRoutes'
>;

/** Sources, triggers and their renewed tokens; a stranger's are never kept. */
const BELIEVED_MAX = 256;
/** A key that is taken back ends what it has signed within this and the age of the keys. */
const BELIEVED_MAX_MS = 10 * 60_000;

/** With or without a port. */
const THIS_MACHINE = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

const BEARER = /^Bearer +([\w.~+/-]+=*)$/i;

/** The function as senders address it. */
export interface Receiver {
  readonly canReadApiServer: boolean;
  /** Otherwise there is plain HTTP alone. */
  readonly takesEvents: boolean;
}

/** Problems of this configuration that must be reported; all of them in one error. */
export function senderProblems(
  config: SenderConfig,
  { canReadApiServer, takesEvents }: Receiver,
): string[] {
  const { senderAudience: audience, senderSubjects: subjects } = config;
  if (audience === undefined) {
    if (subjects.length === 0) return [];
    return ['SENDER_SUBJECTS is set without SENDER_AUDIENCE, so that no token would be looked at'];
  }
  const problems: string[] = [];
  if (subjects.length === 0) {
    problems.push('SENDER_AUDIENCE is set without SENDER_SUBJECTS, so that nobody could send');
  }
  if (!canReadApiServer) {
    problems.push('SENDER_AUDIENCE is set, but this function has no API server to ask for keys');
  }
  if (!takesEvents && !config.guardsRoutes) {
    const why = 'this function takes no events, so that no token would be looked at';
    problems.push(`SENDER_AUDIENCE is set without SENDERS_ONLY=true, and ${why}`);
  }
  return problems;
}

export class Senders {
  readonly guardsRoutes: boolean;
  readonly #addresses: AllowedAddresses | undefined;
  readonly #loadTokens: (() => Promise<Tokens>) | undefined;
  readonly #isForMachine: boolean;
  readonly #clock: Clock;
  /** Token to the end of its belief, the longest known first. */
  readonly #believed = new Map<string, number>();
  #tokens: Promise<Tokens> | undefined;

  constructor(config: SenderConfig, read: ReadApiServer | undefined, clock: Clock) {
    const { senderAudience: audience, senderSubjects: subjects, senderAddresses } = config;
    this.guardsRoutes = config.guardsRoutes;
    this.#clock = clock;
    const asksTokens = audience !== undefined && read !== undefined;
    const ranges = senderAddresses ?? (asksTokens ? undefined : NOBODY_ELSE);
    this.#isForMachine = ranges === NOBODY_ELSE;
    this.#addresses = ranges && new AllowedAddresses(ranges);
    if (!asksTokens) return;
    this.#loadTokens = async () => {
      const module = await import('./tokens.ts');
      return new module.Tokens({ audience, subjects }, read, clock);
    };
  }

  /**
   * Throws, or rejects, with the refusal. Undefined when the sender is known already: then nothing
   * was waited for.
   */
  admit(request: IncomingMessage): Promise<void> | undefined {
    this.#addresses?.assertAllowed(request);
    if (this.#loadTokens === undefined) return undefined;
    const token = tokenOf(request);
    const untilMs = this.#believed.get(token);
    if (untilMs !== undefined && this.#clock.nowMs() < untilMs) return undefined;
    return this.#verify(token, this.#loadTokens);
  }

  /**
   * Throws for a browser that was led here by the name of somebody else's: where this machine is
   * all that is known of senders, everything that runs on it looks like one.
   */
  assertNamed({ headers: { host = '' } }: IncomingMessage): void {
    if (!this.#isForMachine || THIS_MACHINE.test(host)) return;
    const message =
      'This function answers this machine alone, as localhost or 127.0.0.1; it was asked by ' +
      'another name.';
    throw new Failure('SENDER_ADDRESS_FORBIDDEN', message, { field: 'host' });
  }

  async #verify(token: string, load: () => Promise<Tokens>): Promise<void> {
    this.#tokens ??= load();
    const { untilMs } = await (await this.#tokens).verify(token);
    this.#believed.delete(token);
    this.#believed.set(token, Math.min(untilMs, this.#clock.nowMs() + BELIEVED_MAX_MS));
    const [eldest] = this.#believed.keys();
    if (this.#believed.size > BELIEVED_MAX && eldest !== undefined) this.#believed.delete(eldest);
  }
}

function tokenOf({ headers }: IncomingMessage): string {
  const token = BEARER.exec(headers.authorization ?? '')?.[1];
  if (token !== undefined) return token;
  const message =
    'This function answers only with a bearer token of whoever sends or asks. For events set the ' +
    'audience of the sink or subscriber, with OIDC switched on in Knative (docs/security.md).';
  throw new Failure('SENDER_TOKEN_MISSING', message, { field: 'authorization' });
}
