// The states of the model from which a run has come to rest as it should. Another run that gets into
// one of them goes on the same way, so it need not go it again: what is left of a run after a death
// is the way to where it meets the one that did not die. Both functions decide by what they read,
// and may lose what they remember; each eighth run goes its whole way with what it remembers.
import { hash } from 'node:crypto';
import type { KubeObject } from '../../../../shared/kube/objects.ts';
import type { EtcdModel } from './etcd-model.ts';
import type { Run } from './run.ts';

const WHOLE_EACH = 8;
/** When something happened differs from run to run, and resourceVersions with it. */
const TIMES = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;

class Met extends Error {}

export class Passed {
  readonly #states = new Set<string>();
  #runs = 0;

  /** Notes the states that a run passes in this work, once it has ended well. */
  note(run: Run, work: () => Promise<void>): Promise<void> {
    return this.#go(run, work, () => false);
  }

  /**
   * The work of each run: all of it for some of them, and for the others up to where they meet one
   * that went before.
   */
  async each(runs: readonly Run[], work: (run: Run) => Promise<void>): Promise<void> {
    for (const run of runs) await this.meet(run, () => work(run));
  }

  /** `mayMeet`: nothing more befalls it. */
  async meet(run: Run, work: () => Promise<void>, mayMeet = () => true): Promise<void> {
    const isWhole = this.#runs % WHOLE_EACH === 0;
    this.#runs += 1;
    await this.#go(run, work, (state) => !isWhole && this.#states.has(state) && mayMeet());
  }

  async #go(run: Run, work: () => Promise<void>, isMet: (state: string) => boolean): Promise<void> {
    const own: string[] = [];
    run.onMoment = () => {
      const state = stateOf(run.model);
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

function stateOf(model: EtcdModel): string {
  const { kube, members, data, processes, auth, upkeep, spoken, clusterId, leaderId, forced } = model;
  const objects = [...kube.objects].filter(([key]) => !key.startsWith('events/'));
  const etcd = [
    [...members.values()],
    [...data],
    [...processes],
    [auth.isEnabled, [...auth.users], [...auth.roles], [...auth.foreign]],
    [upkeep, spoken.minor, spoken.agreedFor, clusterId, leaderId, forced],
  ];
  const texted = objects.map(([key, object]) => `${key} ${textOf(object)}`);
  return hash('sha1', `${texted.join('\n')}\n${JSON.stringify(etcd)}`);
}
