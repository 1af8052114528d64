// A client of one version of MetadataFeed, which writes one object of its own and reads what it
// wrote, again and again, until it is stopped: it is told of no release.
import { systemClock } from '../../../shared/clock.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { isRecord } from '../../../shared/kube/json.ts';
import type { ResourceRef } from '../../../shared/kube/objects.ts';
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
  readonly #ref: ResourceRef;
  readonly #name: { readonly namespace: string; readonly name: string };

  constructor(kube: KubeClient, version: string) {
    this.#kube = kube;
    this.#ref = { group: 'ballast.dev', version, resource: 'metadatafeeds' };
    this.#name = { namespace: 'ballast-system', name: `client-${version}` };
  }

  async start(): Promise<void> {
    const { group, version } = this.#ref;
    const apiVersion = `${group}/${version}`;
    const manifest = { apiVersion, kind: 'MetadataFeed', metadata: this.#name, spec: {} };
    await this.#kube.create(this.#ref, manifest, {});
    this.#working = this.#work();
  }

  async stop(): Promise<void> {
    this.#ends = true;
    await this.#working;
  }

  /** It has written and read some times more, and still well. */
  async goesOn(): Promise<void> {
    const wanted = this.#rounds + FEWEST_ROUNDS;
    await until(`${this.#name.name} to go on`, () => this.#rounds >= wanted);
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
    await this.#kube.patch(this.#ref, this.#name, { type: 'merge', body: { spec } }, {});
    const object = await this.#kube.get(this.#ref, this.#name);
    const read = isRecord(object?.['spec']) ? object['spec']['sweepSeconds'] : undefined;
    if (read === sweepSeconds) return;
    throw new Error(`${this.#name.name} wrote ${sweepSeconds} and reads ${String(read)}`);
  }
}
