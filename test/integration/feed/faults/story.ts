// What every test of a fault tells: a small cluster whose feed is right; things happen to it in the
// fault, one of each kind; the fault ends, one sweep, and every reader is right again, none of them
// ever having seen an object go back.
import { expect } from 'vitest';
import { Mutator } from '../../../chaos/mutator.ts';
import { Random } from '../../../chaos/random.ts';
import type { Rig } from '../../../chaos/rig.ts';
import { openScene } from '../../../chaos/scene.ts';
import { PODS, SERVICES, SLICES, endpoints, pod, service, slice } from '../../../chaos/shapes.ts';

export const LONG = { timeout: 40_000, interval: 50 };
/** What happens beside the story, so that no two tests are quite the same. */
const CHANGES = 25;

export class Story {
  readonly rig: Rig;
  readonly mutator: Mutator;
  #random = new Random('');

  private constructor(rig: Rig) {
    this.rig = rig;
    this.mutator = new Mutator(rig.kube);
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
    await rig.setInstances(1);
    rig.relay.slandered.clear();
    for (const { observer } of rig.readers) observer.startOver();
    await mutator.cleanUp(random);
    await mutator.create(PODS, pod('changed', random, 'n0'));
    await mutator.create(PODS, pod('deleted', random, 'n1'));
    await mutator.create(PODS, pod('reborn', random, 'n1'));
    await mutator.create(PODS, pod('waiting', random));
    await mutator.create(SERVICES, service('s0', random));
    await mutator.create(SLICES, slice('e0', random));
    // An adapter that lost its API server takes half a minute to come back by itself.
    await this.endsWell();
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

  /** Something is wrong now, or the fault was none. */
  async isWrong(): Promise<void> {
    expect(await this.rig.differences(0)).not.toEqual([]);
  }

  /** All faults are lifted. */
  async endsWell(): Promise<void> {
    const { rig } = this;
    await rig.heartbeat.during(rig.sweep());
    await this.isRight();
  }

  async isRight(): Promise<void> {
    expect(await this.rig.differences()).toEqual([]);
    expect(this.rig.violations).toEqual([]);
  }
}
