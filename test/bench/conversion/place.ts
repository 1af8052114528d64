// The API server with the first step of the timeline, and 5,000 objects that are stored in another
// version than the one that is asked for.
import { type Plane } from '../../../knative/try/local/plane/plane.ts';
import { inParallel } from '../../../knative/try/local/cluster/in-parallel.ts';
import { STORAGE_MIGRATIONS } from '../../../shared/api/storage-migration.ts';
import { systemClock } from '../../../shared/clock.ts';
import { CRDS } from '../../../shared/kube/crds.ts';
import { isKubeError } from '../../../shared/kube/errors.ts';
import { startShipped } from '../../builders/shipped.ts';
import { ConversionRig } from '../../integration/conversion/rig.ts';

export const OBJECTS = 5_000;
const IN_FLIGHT_MAX = 8;
const ASK_EVERY_MS = 50;
const LISTED_MS = 120_000;
const NAME = { name: 'storagemigrations.ballast.dev' };

/** The `clientConfig` of a definition; null takes a field away. */
export type ClientConfig = Readonly<Record<'service' | 'url' | 'caBundle', unknown>>;

export class ConversionPlace {
  readonly rig: ConversionRig;
  readonly #plane: Plane;
  /** Another one makes the API server forget all that it has converted. */
  #reviewVersions: readonly string[] = ['v1'];

  private constructor(plane: Plane, rig: ConversionRig) {
    this.#plane = plane;
    this.rig = rig;
  }

  static async start(): Promise<ConversionPlace> {
    const { plane, kube } = await startShipped();
    await kube.close();
    try {
      const rig = await ConversionRig.prepare(plane);
      const names = Array.from({ length: OBJECTS }, (_, index) => `m-${index}`);
      await inParallel(names, IN_FLIGHT_MAX, (name) =>
        rig.kube.create(STORAGE_MIGRATIONS, migration(name), {}),
      );
      return new ConversionPlace(plane, rig);
    } catch (error) {
      await plane.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.rig.stop();
    await this.#plane.stop();
  }

  /** Until all are listed in v1beta1, and this webhook has converted each of them. */
  async list(clientConfig: ClientConfig, reviews: () => Promise<number>): Promise<number> {
    const before = await reviews();
    const startedMs = performance.now();
    this.#reviewVersions = this.#reviewVersions.length === 1 ? ['v1', 'v1beta1'] : ['v1'];
    const webhook = { clientConfig, conversionReviewVersions: this.#reviewVersions };
    const body = { spec: { conversion: { webhook } } };
    await this.rig.kube.patch(CRDS, NAME, { type: 'merge', body }, {});
    while (performance.now() - startedMs < LISTED_MS) {
      const count = await this.#listed().catch(whileInitializing);
      if (count === OBJECTS && (await reviews()) - before >= OBJECTS) {
        return performance.now() - startedMs;
      }
    }
    throw new Error(`The objects were not converted within ${LISTED_MS / 1_000} s.`);
  }

  async #listed(): Promise<number> {
    const path = '/apis/ballast.dev/v1beta1/storagemigrations';
    const { text } = await this.rig.kube.raw({ method: 'GET', path, repeat: 'unsent' });
    return text.split('"paused":').length - 1;
  }
}

/** The API server reads and converts all of them before it lists the first one. */
async function whileInitializing(error: unknown): Promise<number> {
  if (!isKubeError(error, 'KUBE_THROTTLED')) throw error;
  await systemClock.sleep(ASK_EVERY_MS);
  return 0;
}

const migration = (name: string) => ({
  apiVersion: 'ballast.dev/v1alpha1',
  kind: 'StorageMigration',
  metadata: { name },
  spec: { resource: { group: 'bench.example.com', resource: 'widgets' }, pause: true },
});
