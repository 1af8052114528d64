// Asks members of an etcd over their JSON gateway as a client of the old cluster would, and goes on
// doing so when these are members of the new one: with what it has, it trusts both or is cut off.
// It keeps its connections.
import * as http from 'node:http';
import * as https from 'node:https';
import { text as textOf } from 'node:stream/consumers';
import type { ClientTls } from './legacy-tls.ts';

const ANSWERS_WITHIN_MS = 2_000;

export const base64 = (text: string): string => Buffer.from(text).toString('base64');

export class LegacyClient {
  readonly #agent: http.Agent;
  readonly #isSecret: boolean;
  readonly #withinMs: number;

  constructor(tls: ClientTls | undefined, servername: string, withinMs = ANSWERS_WITHIN_MS) {
    this.#withinMs = withinMs;
    this.#isSecret = tls !== undefined;
    this.#agent = this.#isSecret
      ? new https.Agent({ keepAlive: true, servername, ...tls })
      : new http.Agent({ keepAlive: true });
  }

  urlAt(ip: string): string {
    return `${this.#isSecret ? 'https' : 'http'}://${ip}:2379`;
  }

  async post(url: string, path: string, body: object): Promise<unknown> {
    const signal = AbortSignal.timeout(this.#withinMs);
    const { request } = this.#isSecret ? https : http;
    const answer = await new Promise<http.IncomingMessage>((resolve, reject) => {
      const options = { method: 'POST', agent: this.#agent, signal };
      const sent = request(`${url}${path}`, options, (found) => {
        // A time that is over later is nobody's error any more.
        found.on('error', reject);
        resolve(found);
      });
      sent.on('error', reject);
      sent.end(JSON.stringify(body));
    });
    const said = await textOf(answer);
    if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${said}`);
    return JSON.parse(said);
  }

  /** Old members have the gateway elsewhere. */
  ask(url: string, path: string, body: object): Promise<unknown> {
    return this.post(url, `/v3beta/${path}`, body).catch((error: unknown) => {
      if (!String(error).startsWith('Error: 404')) throw error;
      return this.post(url, `/v3/${path}`, body);
    });
  }

  async put(url: string, key: string, value: string): Promise<void> {
    await this.ask(url, 'kv/put', { key: base64(key), value: base64(value) });
  }

  close(): void {
    this.#agent.destroy();
  }
}
