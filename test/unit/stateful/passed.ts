// The states of a model from which a run came to rest as it should. Another run that gets into one
// of them goes on the same way, so it need not: most runs after a death soon meet the one without.
// Functions decide by what they read and may forget all else; each eighth run goes its whole way.
import { hash } from 'node:crypto';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import type { KubeModel } from './kube-model.ts';

const WHOLE_EACH = 8;
/** When something happened differs from run to run, and resourceVersions with it. */
const TIMES = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;

class Met extends Error {}

export interface PassingRun {
  /** Called after each moment that passed, between two sweeps or in one, and when it is Ready. */
  onMoment: () => void;
  readonly writes: readonly string[];
  /** All that a function can see of the model now, but for the time; and all that judges it. */
  state(): string;
}

export class Passed {
  readonly #states = new Set<string>();
  #runs = 0;

  /** Notes the states that a run passes in this work, once it has ended well. */
  note(run: PassingRun, work: () => Promise<void>): Promise<void> {
    return this.#go(run, work, () => false);
  }

  /**
   * The work of each run: all of it for some of them, and for the others up to where they meet one
   * that went before.
   */
  async each<Run extends PassingRun>(
    runs: readonly Run[],
    work: (run: Run) => Promise<void>,
  ): Promise<void> {
    for (const run of runs) await this.meet(run, () => work(run));
  }

  /**
   * `mayMeet`: nothing more befalls it. It has to write something first: whoever remembers nothing
   * must know what is next, and not only be where the others waited.
   */
  async meet(run: PassingRun, work: () => Promise<void>, mayMeet = () => true): Promise<void> {
    const isWhole = this.#runs % WHOLE_EACH === 0;
    this.#runs += 1;
    const before = run.writes.length;
    const canMeet = (): boolean => !isWhole && run.writes.length > before && mayMeet();
    await this.#go(run, work, (state) => canMeet() && this.#states.has(state));
  }

  async #go(
    run: PassingRun,
    work: () => Promise<void>,
    isMet: (state: string) => boolean,
  ): Promise<void> {
    const own: string[] = [];
    run.onMoment = () => {
      const state = run.state();
      if (isMet(state)) throw new Met();
      own.push(state);
    };
    try {
      await work();
    } catch (error) {
      if (!(error instanceof Met)) throw error;
    }
    run.onMoment = () => undefined;
    for (const state of own) this.#states.add(state);
  }
}

/** The state of the API server and of the others, in words. */
export function stateText({ objects }: Pick<KubeModel, 'objects'>, others: unknown): string {
  // Nobody reads Events.
  const read = [...objects].filter(([key]) => !key.startsWith('events/'));
  const texted = read.map(([key, object]) => `${key} ${textOf(object)}`);
  return hash('sha1', `${texted.join('\n')}\n${JSON.stringify(others)}`);
}

const texts = new WeakMap<KubeObject, string>();

/** Nobody changes an object in place. */
function textOf(object: KubeObject): string {
  const known = texts.get(object);
  if (known !== undefined) return known;
  const { resourceVersion: _, ...metadata } = object.metadata;
  const whole = JSON.stringify({ ...object, metadata }).replaceAll(TIMES, '');
  const text = hash('sha1', whole);
  texts.set(object, text);
  return text;
}
