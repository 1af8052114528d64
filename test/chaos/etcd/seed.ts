// One life of an EtcdCluster by its seed. Processes die before or after writes that chance names,
// and the next ones begin with nothing in memory; reads are old; events are lost; and there are two
// instances of each function, which know nothing of each other.
import { Run } from '../../unit/etcd-cluster/model/run.ts';
import { Random } from '../random.ts';
import { type Life, LIVES, preparedFor } from './lives.ts';

const ROUNDS_MAX = 1_000;
const DEATHS_MAX = 3;
/** Deaths come within so many moments before and after writes. */
const MOMENTS_MAX = 80;
/** A look may begin with what was a while ago; none of its reads is older than the one before. */
const OLD_LOOK = 0.3;
const AGE_MAX = 6;
const LOST_EVENT = 0.3;
/** Chance has had its say by then, and it has to come to rest. */
const CALM_AFTER_ROUNDS = 60;

export interface Outcome {
  readonly seed: string;
  readonly life: string;
  readonly deaths: number;
  readonly oldReads: number;
  readonly lostEvents: number;
  readonly writes: number;
  /** The rule that was broken, or undefined. */
  readonly failure: string | undefined;
}

const bases = new Map<Life, Promise<Run>>();

function baseOf(life: Life): Promise<Run> {
  const base = bases.get(life) ?? preparedFor(life);
  bases.set(life, base);
  return base;
}

export async function runSeed(seed: string): Promise<Outcome> {
  const random = new Random(seed);
  const life = random.fork('life').pick(LIVES);
  const world = new World((await baseOf(life)).copy(), random);
  const before = world.run.writes.length;
  let failure: string | undefined;
  try {
    life.begin(world.run);
    await untilRest(world, life);
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
  }
  const { deaths, oldReads, lostEvents } = world;
  const writes = world.run.writes.length - before;
  return { seed, life: life.name, deaths, oldReads, lostEvents, writes, failure };
}

async function untilRest(world: World, life: Life): Promise<void> {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    if (round === CALM_AFTER_ROUNDS) world.calm();
    await world.round();
    life.each?.(world.run);
    const isDone = world.run.isReady() && (life.isDone?.(world.run) ?? true);
    if (round > CALM_AFTER_ROUNDS && isDone) return expectRest(world.run);
  }
  throw new Error(`never at rest: ${JSON.stringify(world.run.model.status())}`);
}

async function expectRest(run: Run): Promise<void> {
  await run.idle(3);
  const before = run.writes.length;
  await run.idle(2);
  const more = run.writes.slice(before);
  if (more.length > 0) throw new Error(`it goes on writing at rest: ${more.join(', ')}`);
}

class World {
  run: Run;
  deaths = 0;
  oldReads = 0;
  lostEvents = 0;
  #other: Run;
  #isCalm = false;
  #moments = 0;
  #age = 0;
  #next: Run | undefined;
  readonly #diesAt: readonly number[];
  readonly #reads: Random;
  readonly #events: Random;

  constructor(run: Run, random: Random) {
    const deaths = random.fork('deaths');
    this.#reads = random.fork('reads');
    this.#events = random.fork('events');
    const count = deaths.between(0, DEATHS_MAX);
    this.#diesAt = Array.from({ length: count }, () => deaths.between(1, MOMENTS_MAX));
    this.run = run;
    this.#other = new Run(run.model);
    this.#watch();
  }

  /** No more faults: what is under way has to end. */
  calm(): void {
    this.#isCalm = true;
  }

  async round(): Promise<void> {
    const { model } = this.run;
    if (!this.#isLost()) await this.#work((run) => run.sweep());
    if (!this.#isLost()) await this.#work((run) => run.sweepPeers());
    if (this.run.model === model) model.tick();
  }

  #isLost(): boolean {
    const isLost = !this.#isCalm && this.#events.chance(LOST_EVENT);
    this.lostEvents += isLost ? 1 : 0;
    return isLost;
  }

  async #work(work: (run: Run) => Promise<void>): Promise<void> {
    const isOther = !this.#isCalm && this.#events.chance(0.5);
    this.#look();
    await work(isOther ? this.#other : this.run);
    if (this.#next === undefined) return;
    // It died in the midst of this: the world is as it was then.
    this.run = this.#next;
    this.#other = new Run(this.run.model);
    this.#next = undefined;
    this.deaths += 1;
    this.run.model.tick();
    this.#watch();
  }

  #watch(): void {
    const { run } = this;
    const { kube } = run.model;
    kube.aroundWrite = () => {
      this.#look();
      if (this.#next !== undefined || this.#isCalm) return;
      this.#moments += 1;
      if (this.#diesAt.includes(this.#moments)) this.#next = run.copy();
    };
    kube.staleness = () => {
      const age = this.#isCalm ? 0 : this.#age;
      this.#age = this.#reads.between(Math.max(0, age - 1), age);
      this.oldReads += age > 0 ? 1 : 0;
      return age;
    };
  }

  #look(): void {
    this.#age = this.#reads.chance(OLD_LOOK) ? this.#reads.between(1, AGE_MAX) : 0;
  }
}
