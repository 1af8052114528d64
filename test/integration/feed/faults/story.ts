// The story of every test of a fault: a small cluster's feed is right; objects change during the
// fault, one of each kind; the fault ends, one sweep, and every reader is right again, none of them
// ever having seen an object go back.
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { Mutator } from '../../../chaos/mutator.ts';
import { Random } from '../../../chaos/random.ts';
import type { Rig } from '../../../chaos/rig.ts';
import { openScene } from '../../../chaos/scene.ts';
import { PODS, SERVICES, SLICES, endpoints, pod, service, slice } from '../../../chaos/shapes.ts';

export const LONG = { timeout: 40_000, interval: 50 };
/** Changes beside the story, so that no two tests are quite the same. */
const CHANGES = 25;
/** They take a tenth of it, on two idle cores. */
const EVENTS_WITHIN_MS = 2_000;

export interface Picture {
  /** How readers differ from the API server. */
  readonly wrong: readonly string[];
  /** Objects that a reader saw go back. */
  readonly wentBack: readonly string[];
}

/** Every reader equals the API server, and no object ever went back. */
export const WELL: Picture = { wrong: [], wentBack: [] };

class Story {
  readonly rig: Rig;
  readonly mutator: Mutator;
  readonly #staying: number;
  #random = new Random('');

  private constructor(rig: Rig) {
    this.rig = rig;
    this.mutator = new Mutator(rig.kube);
    this.#staying = rig.readers.length;
  }

  static async open(): Promise<Story> {
    return new Story(await openScene());
  }

  async close(): Promise<void> {
    await this.rig.stop();
  }

  /** A cluster at the start of a test. */
  async begins(name: string): Promise<void> {
    const { rig, mutator } = this;
    this.#random = new Random(name);
    const random = this.#random;
    await rig.mend();
    await rig.setInstances(1);
    for (const late of rig.readers.splice(this.#staying)) await late.close();
    rig.relay.slandered.clear();
    for (const observer of rig.observers) observer.startOver();
    await mutator.cleanUp(random);
    await mutator.create(PODS, pod('changed', random, 'n0'));
    await mutator.create(PODS, pod('deleted', random, 'n1'));
    await mutator.create(PODS, pod('reborn', random, 'n1'));
    await mutator.create(PODS, pod('waiting', random));
    await mutator.create(SERVICES, service('s0', random));
    await mutator.create(SLICES, slice('e0', random));
    // Events make it so, but for an adapter that has yet to find its API server again.
    const early = await this.picture(EVENTS_WITHIN_MS);
    const { wrong } = early.wrong.length === 0 ? early : await this.ending();
    await rig.relay.quiet();
    if (wrong.length > 0) throw new Error(`wrong from the beginning: ${wrong.join('; ')}`);
  }

  /** Added, changed, bound, deleted, and made again under its name on another node. */
  async goesOn(): Promise<void> {
    const { mutator } = this;
    const random = this.#random;
    await mutator.create(PODS, pod('added', random, 'n0'));
    await mutator.label(PODS, 'changed', { told: 'later' });
    await mutator.bind('waiting', 'n2');
    await mutator.remove(PODS, 'deleted');
    await mutator.remove(PODS, 'reborn');
    await mutator.create(PODS, pod('reborn', random, 'n2'));
    await mutator.merge(SLICES, 'e0', { endpoints: endpoints(random) });
    await mutator.remove(SERVICES, 's0');
    await this.isBusy();
  }

  /** Whatever may happen to whatever is there. */
  async isBusy(): Promise<void> {
    for (let left = CHANGES; left > 0; left -= 1) await this.mutator.mutate(this.#random);
  }

  /** All faults are lifted: one sweep, and then what is still wrong. */
  async ending(): Promise<Picture> {
    await this.rig.heartbeat.during(this.rig.sweep());
    return this.picture();
  }

  /** The differences that are left once nothing more becomes right or this time is over. */
  async picture(withinMs?: number): Promise<Picture> {
    const wrong = await this.rig.differences(withinMs);
    return { wrong, wentBack: this.rig.violations };
  }
}

export let story: Story;
export let rig: Rig;

/** One scene for all tests of a file; each begins with a small cluster whose feed is right. */
export function withScene(): void {
  beforeAll(async () => {
    story = await Story.open();
    ({ rig } = story);
  });

  afterAll(async () => {
    await story?.close();
  });

  beforeEach(async ({ task }) => {
    await story.begins(task.name);
  });
}
