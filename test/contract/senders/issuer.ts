// An issuer of tokens as an API server is one, in the test's process: real keys, a real server of
// its discovery and keys, and a clock that the test moves.
import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, type JWK, SignJWT, exportJWK, generateKeyPair } from 'jose';
import { type Clock, systemClock } from '../../../shared/clock.ts';

export const AUDIENCE = 'ballast-metadata';
export const SUBJECT = 'system:serviceaccount:ballast-system:changes';
const ISSUER = 'https://kubernetes.default.svc';

export class MovedClock implements Clock {
  aheadMs = 0;

  nowMs(): number {
    return systemClock.nowMs() + this.aheadMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return systemClock.sleep(ms, signal);
  }
}

interface Key {
  readonly kid: string;
  readonly alg: string;
  readonly secret: CryptoKey;
  readonly jwk: JWK;
}

export async function makeKey(kid: string, alg = 'RS256'): Promise<Key> {
  const { privateKey, publicKey } = await generateKeyPair(alg);
  return { kid, alg, secret: privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg } };
}

export class TestIssuer {
  readonly clock: Clock;
  keys: readonly Key[] = [];
  discovery: unknown = { issuer: ISSUER };
  questions = 0;
  #server: Server | undefined;
  #port = 0;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  async open(): Promise<void> {
    const server = createServer(({ url }, response) => {
      const isKeys = url === '/openid/v1/jwks';
      if (isKeys) this.questions += 1;
      const keySet = { keys: this.keys.map(({ jwk }) => jwk) };
      response.end(JSON.stringify(isKeys ? keySet : this.discovery));
    });
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  async close(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }

  /** The reader that a function asks the API server with. */
  readonly read = async (_: unknown, path: string, signal: AbortSignal): Promise<unknown> => {
    const answer = await fetch(`http://127.0.0.1:${this.#port}${path}`, { signal });
    return answer.json();
  };

  /** A token as the API server writes them, but for what `claims` says otherwise. */
  token(key: Key, claims: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const nowSeconds = Math.floor(this.clock.nowMs() / 1_000);
    const usual = {
      iss: ISSUER,
      aud: [AUDIENCE],
      sub: SUBJECT,
      iat: nowSeconds,
      nbf: nowSeconds,
      exp: nowSeconds + 3_600,
    };
    const jwt = new SignJWT({ ...usual, ...claims });
    return jwt.setProtectedHeader({ alg: key.alg, kid: key.kid }).sign(key.secret);
  }
}
