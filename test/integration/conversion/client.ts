// A client of one version of MetadataFeed, which writes one object of its own and reads what it
// wrote, again and again, until it is stopped. It asks by path, and so in this version alone: our
// own client of the API server would find the other one by itself.
import { systemClock } from '../../../shared/clock.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { isRecord } from '../../../shared/kube/json.ts';
import type { Method } from '../../../shared/kube/request.ts';
import { until } from '../../builders/versioned-kind.ts';

const PAUSE_MS = 100;
const FEWEST_ROUNDS = 3;
const LEAST_SECONDS = 60;
const SPREAD_SECONDS = 500;

export class Client {
  /** Failures, in the words that it was told. */
  readonly errors: string[] = [];
  #rounds = 0;
  #ends = false;
  #working: Promise<void> | undefined;
  readonly #kube: KubeClient;
  readonly #apiVersion: string;
  readonly #name: string;

  constructor(kube: KubeClient, version: string) {
    this.#kube = kube;
    this.#apiVersion = `ballast.dev/${version}`;
    this.#name = `client-${version}`;
  }

  /** The object is its own, and may be there from the last time. */
  async start(): Promise<void> {
    const type = { apiVersion: this.#apiVersion, kind: 'MetadataFeed' };
    const body = { ...type, metadata: { name: this.#name }, spec: {} };
    await this.#send('PATCH', body, 'application/apply-patch+yaml');
    this.#ends = false;
    this.#working = this.#work();
  }

  /** It has met nothing that was wrong. */
  async stop(): Promise<void> {
    this.#ends = true;
    await this.#working;
    this.assertWell();
  }

  async #send(method: Method, body?: object, contentType?: string): Promise<unknown> {
    const { text } = await this.#kube.raw({
      method,
      path: `/apis/${this.#apiVersion}/namespaces/ballast-system/metadatafeeds/${this.#name}`,
      ...(body === undefined ? {} : { query: { fieldManager: this.#name }, body }),
      ...(contentType === undefined ? {} : { contentType }),
      repeat: 'unsent',
    });
    return JSON.parse(text);
  }

  /** It has written and read some times more, and still well. */
  async goesOn(): Promise<void> {
    const wanted = this.#rounds + FEWEST_ROUNDS;
    await until(`${this.#name} to go on`, () => this.#rounds >= wanted);
    this.assertWell();
  }

  /** Nothing that it was told was wrong. */
  assertWell(): void {
    if (this.errors.length > 0) throw new Error(this.errors.join('\n'));
  }

  async #work(): Promise<void> {
    for (let round = 1; !this.#ends; round += 1) {
      try {
        await this.#oneRound(LEAST_SECONDS + (round % SPREAD_SECONDS));
        this.#rounds += 1;
      } catch (error) {
        this.errors.push(error instanceof Error ? error.message : String(error));
      }
      await systemClock.sleep(PAUSE_MS);
    }
  }

  async #oneRound(sweepSeconds: number): Promise<void> {
    const spec = { sweepSeconds };
    await this.#send('PATCH', { spec }, 'application/merge-patch+json');
    const object = await this.#send('GET');
    const read =
      isRecord(object) && isRecord(object['spec']) ? object['spec']['sweepSeconds'] : undefined;
    if (read === sweepSeconds) return;
    throw new Error(`${this.#name} wrote ${sweepSeconds} and reads ${String(read)}`);
  }
}
