// One run of a seed: a few faults on top of each other while the cluster changes without pause;
// then all of them are lifted, one sweep, and every reader has to equal the API server.
import { type Fault, type Lift, chooseFaults } from './faults.ts';
import { Mutator } from './mutator.ts';
import { Random } from './random.ts';
import type { Rig } from './rig.ts';

export interface SeedResult {
  readonly seed: string;
  readonly faults: readonly string[];
  readonly mutations: number;
  readonly healed: number;
  /** From the last fault being lifted until all readers were right. */
  readonly wholeAfterMs: number;
  /** Errors; a line each. */
  readonly wrong: readonly string[];
}

/** Faults on top of each other; more hide each other. */
const FAULTS_MIN = 3;
const FAULTS_MAX = 6;
const RUN_MS = 1_200;
const SHORTEST_FAULT_MS = 200;
const PAUSE_MAX_MS = 12;
/** People and controllers at the same time. */
const HANDS = 3;
/** Mostly a cluster in use, which also makes the run three times as fast. */
const BUSY = 0.8;
/** The clients of a server that was away try again every two seconds. */
const API_SERVER_BACK_MS = 20_000;

/** `without` names kinds of faults that are not to be chosen. */
export async function runSeed(
  rig: Rig,
  seed: string,
  without: readonly string[],
): Promise<SeedResult> {
  const random = new Random(seed);
  const mutator = new Mutator(rig.kube);
  rig.relay.slandered.clear();
  for (const observer of rig.observers) observer.startOver();
  await mutator.cleanUp(random.fork('clean'));
  const healedBefore = (await rig.status()).events?.healed ?? 0;
  const count = random.between(FAULTS_MIN, FAULTS_MAX);
  const faults = chooseFaults(random.fork('faults'), count, without);
  const endsAtMs = rig.clock.nowMs() + RUN_MS;
  const hands = Array.from({ length: HANDS }, (_, index) =>
    mutate(rig, mutator, random.fork(`mutations ${index}`), endsAtMs),
  );
  await Promise.all([
    ...hands,
    ...faults.map((fault, index) => suffer(rig, fault, random.fork(`fault ${index}`), endsAtMs)),
  ]);
  const liftedAtMs = rig.clock.nowMs();
  await untilApiServerAnswers(rig);
  const isBusy = random.fork('heartbeat').chance(BUSY);
  await (isBusy ? rig.heartbeat.during(rig.sweep()) : rig.sweep());
  const found = await rig.differences();
  const wholeAfterMs = rig.clock.nowMs() - liftedAtMs;
  const wrong = [...found, ...rig.violations];
  if (found.length > 0) wrong.unshift(await afterAnotherSweep(rig));
  return {
    seed,
    faults: faults.map(({ kind }) => kind),
    mutations: mutator.accepted,
    healed: ((await rig.status()).events?.healed ?? 0) - healedBefore,
    wholeAfterMs,
    wrong,
  };
}

async function mutate(rig: Rig, mutator: Mutator, random: Random, endsAtMs: number): Promise<void> {
  while (rig.clock.nowMs() < endsAtMs) {
    await mutator.mutate(random);
    await rig.clock.sleep(random.between(0, PAUSE_MAX_MS));
  }
}

/** From some moment of the run to a later one; what it did is lifted in any case. */
async function suffer(rig: Rig, fault: Fault, random: Random, endsAtMs: number): Promise<void> {
  await rig.clock.sleep(random.between(0, RUN_MS - 2 * SHORTEST_FAULT_MS));
  const leftMs = Math.max(SHORTEST_FAULT_MS, endsAtMs - rig.clock.nowMs());
  const lift: Lift = await fault.begin(rig, random);
  await rig.clock.sleep(random.between(SHORTEST_FAULT_MS, leftMs));
  await lift();
}

async function untilApiServerAnswers(rig: Rig): Promise<void> {
  const endsAtMs = rig.clock.nowMs() + API_SERVER_BACK_MS;
  for (;;) {
    try {
      await rig.status();
      return;
    } catch (error) {
      if (rig.clock.nowMs() > endsAtMs) throw error;
    }
  }
}

/** Whether it is the sweep or a reader that is at fault shows in what another one changes. */
async function afterAnotherSweep(rig: Rig): Promise<string> {
  await rig.sweep();
  const left = await rig.differences();
  return left.length === 0 ? 'another sweep heals it' : `another sweep leaves ${left.length}`;
}
