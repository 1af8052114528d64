// Thousands of objects that are stored in an old version, again before each run; and what a
// migration of them does and costs, seen from outside: by a watch of the kind, the accounts of the
// API server's process, somebody else's reads, and etcd.
import { inParallel } from '../../../knative/try/local/cluster/in-parallel.ts';
import { GO_GC_AS_SHIPPED, type Plane } from '../../../knative/try/local/plane/plane.ts';
import { systemClock } from '../../../shared/clock.ts';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import { countStored } from '../../builders/etcd-values.ts';
import { CURRENT, GROUP, NAMESPACE, OLD, VersionedKind } from '../../builders/versioned-kind.ts';
import { startInTreePlane } from '../../integration/migration/in-tree.ts';
import { cpuSeconds } from '../cpu.ts';
import { Child } from '../feed/child.ts';
import { percentile } from '../feed/line.ts';
import type { Sample } from '../runner.ts';
import type { ReaderQuestion } from './reader.ts';
import { Writes } from './writes.ts';

/** With its metadata and managed fields, an object of about 1.3 KB. */
const PAYLOAD_BYTES = 800;
const IN_FLIGHT_MAX = 8;
/** Long enough for 150 reads, which the percentile of the idle API server is made of. */
const IDLE_MS = 3_000;

type Reader = Child<{ readonly ask: ReaderQuestion }, number[]>;

/**
 * Moves the objects of one kind to its storage version. It is only told to; its work is measured
 * from outside, for all sides alike.
 */
export interface MigrationSide {
  readonly name: string;
  /** Not measured, before each run: whatever is there already when a migration begins. */
  prepare(world: MigrationWorld): Promise<void>;
  /** Resolves when it is over: objects are rewritten and storedVersions is trimmed. */
  migrate(world: MigrationWorld): Promise<void>;
  /** Not measured: it costs the next side nothing any more. */
  rest(): Promise<void>;
}

export class MigrationWorld {
  readonly plane: Plane;
  readonly kube: KubeClient;
  readonly kind: VersionedKind;
  readonly objects: number;
  readonly #reader: Reader;

  private constructor(plane: Plane, kube: KubeClient, reader: Reader, objects: number) {
    this.plane = plane;
    this.kube = kube;
    this.kind = new VersionedKind(plane, kube, 'gadgets');
    this.objects = objects;
    this.#reader = reader;
  }

  static async open(objects: number): Promise<MigrationWorld> {
    const plane = await startInTreePlane(GO_GC_AS_SHIPPED);
    const { kubeconfigPath } = plane;
    const kube = openKube({ kubeconfigPath, userAgent: 'bench', fieldManager: 'bench' });
    const reader: Reader = await Child.start('../migration/reader.ts', kubeconfigPath);
    const world = new MigrationWorld(plane, kube, reader, objects);
    await world.kind.define(OLD);
    await world.kind.createOld(objects, PAYLOAD_BYTES);
    return world;
  }

  async close(): Promise<void> {
    await this.#reader.end();
    await this.kube.close();
    await this.plane.stop();
  }

  /** One measured migration. */
  async run(side: MigrationSide): Promise<Sample> {
    await this.#makeOld();
    await side.prepare(this);
    const writes = await Writes.of(this.kube, this.kind);
    try {
      const idle = await this.#whileReading(() => systemClock.sleep(IDLE_MS));
      const busy = await this.#whileReading(() => side.migrate(this));
      const { firstMs, seconds } = await writes.all();
      await this.#check(side);
      // The API server's idle work, and its reads, are not part of the migration.
      const cpu = busy.cpuSeconds - (idle.cpuSeconds / idle.ms) * busy.ms;
      return {
        firstWriteMs: firstMs - busy.startedMs,
        objectsPerSecond: this.objects / seconds,
        endToEndMs: busy.ms,
        cpuMsPerObject: (cpu * 1_000) / this.objects,
        readerP99Ms: busy.p99Ms,
        idleReaderP99Ms: idle.p99Ms,
      };
    } finally {
      writes.close();
      await side.rest();
    }
  }

  /** Also what a migration before this one has made new. */
  async #makeOld(): Promise<void> {
    await this.kind.flip(OLD);
    const { items } = await this.kube.list(this.kind.ref(OLD));
    await inParallel(items, IN_FLIGHT_MAX, ({ metadata: { name } }) => {
      const target = { namespace: NAMESPACE, name };
      return this.kube.patch(this.kind.ref(OLD), target, { type: 'merge', body: {} });
    });
    await this.kind.flip(CURRENT);
    await this.#expectStored(OLD);
  }

  async #whileReading(work: () => Promise<void>) {
    const { pid = 0 } = this.plane.part('kube-apiserver');
    await this.#reader.ask({ ask: 'start' });
    const cpuBefore = await cpuSeconds(pid);
    const startedMs = performance.now();
    await work();
    const ms = performance.now() - startedMs;
    const spent = (await cpuSeconds(pid)) - cpuBefore;
    const latenciesMs = await this.#reader.ask({ ask: 'take' });
    return { startedMs, ms, cpuSeconds: spent, p99Ms: percentile(latenciesMs, 0.99) };
  }

  async #check({ name }: MigrationSide): Promise<void> {
    await this.#expectStored(CURRENT);
    const { storedVersions } = (await this.kind.read()).status;
    if (storedVersions.join() === CURRENT) return;
    throw new Error(`${name} ended and left storedVersions at ${storedVersions.join()}.`);
  }

  async #expectStored(version: string): Promise<void> {
    const counts = await countStored(this.plane, GROUP, this.kind.plural);
    if (counts[version] === this.objects && Object.keys(counts).length === 1) return;
    throw new Error(`etcd holds ${JSON.stringify(counts)}, not ${this.objects} at ${version}.`);
  }
}
