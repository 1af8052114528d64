// A takeover that is carried out on a model of the API server, whatever is taken over: the function
// looks again and again, others do what they do, and the process may die at each write.
import type { Deps } from '../../../functions/takeover/deps.ts';
import type { Door } from '../../../functions/takeover/door.ts';
import { TAKEOVERS, type TakeoverStatus } from '../../../shared/api/takeover.ts';
import { isKubeError } from '../../../shared/kube/errors.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import type { KubeModel } from '../stateful/kube-model.ts';
import type { PassingRun } from '../stateful/passed.ts';
import { depsIn, sweepWith } from './function-in.ts';
import { at } from './others-at-work.ts';
import { namespace } from './world.ts';

const SWEEPS_MAX = 200;

export abstract class TakeoverRun<Run> implements PassingRun {
  onMoment: () => void = () => undefined;
  readonly kube: KubeModel;
  /** Called in each moment, and after each write. */
  befalls: (run: Run) => void = () => undefined;
  /** Before a member answers, and before it changes something: what others do meanwhile. */
  beforeAnswer: () => Promise<void> = async () => undefined;
  beforeChange: () => Promise<void> = async () => undefined;
  #onWrite: () => void = () => undefined;
  #isWritten = false;
  #deps: Deps | undefined;

  protected constructor(kube: KubeModel) {
    this.kube = kube;
    kube.aroundWrite = () => {
      if (this.#isWritten) this.befalls(this.self);
      this.#isWritten = !this.#isWritten;
      this.#onWrite();
    };
  }

  protected abstract get self(): Run;

  /** A second instance of the function in the same world. */
  abstract another(): Run;

  /** Another one in the same state, with nothing in memory. */
  abstract copy(): Run;

  abstract state(): string;

  /** All others do what they do. */
  abstract tick(): void;

  /** Throws where something is so that must never be. */
  protected abstract judge(): void;

  /** The time of the function. */
  abstract get ms(): number;

  /** Answers of those whom it asks. */
  protected abstract door(): Partial<Door>;

  get writes(): readonly string[] {
    return this.kube.writes;
  }

  /** From that place on, but for the status and Events. */
  changesFrom(place: number): readonly string[] {
    return this.writes.slice(place).filter((one) => !/status| events /.test(one));
  }

  edit(spec: object): void {
    this.kube.change(TAKEOVERS, at('over'), { spec });
  }

  /** The plan is confirmed, and nothing is done yet. */
  protected async confirm(): Promise<void> {
    await this.sweep();
    this.edit({ confirm: this.status.plan?.id });
  }

  get status(): TakeoverStatus {
    return this.kube.objects.get(`takeovers/${namespace}/over`)?.['status'] ?? {};
  }

  /** The one that was begun last. */
  get step(): string | undefined {
    return this.status.steps?.at(-1)?.name;
  }

  condition(type = 'Degraded'): string {
    const found = this.status.conditions?.find((one) => one.type === type);
    return `${found?.status} ${found?.reason}`;
  }

  /** Words for a person about what holds it up. */
  advice(): string {
    return this.status.conditions?.find((one) => one.type === 'Degraded')?.message ?? '';
  }

  /** Whether it is over, after so many sweeps at most. */
  async converge(sweeps = SWEEPS_MAX): Promise<boolean> {
    for (let count = 0; count < sweeps; count += 1) {
      await this.sweep();
      this.tick();
      if (this.status.work?.endedAt !== undefined) return true;
    }
    return false;
  }

  /** The same, and each state in which the process may have died on the way. */
  async deathsIn(work: () => Promise<unknown>): Promise<readonly Run[]> {
    const left: Run[] = [];
    this.#onWrite = () => left.push(this.copy());
    await work();
    this.#onWrite = () => undefined;
    return left;
  }

  async sweep(): Promise<void> {
    const clock = { nowMs: () => this.ms, sleep: async (): Promise<void> => this.tick() };
    this.#deps ??= depsIn(this.kube, clock, this.door());
    try {
      await sweepWith(this.#deps);
    } catch (error) {
      // With old reads somebody else was first; the next sweep looks again.
      if (!isKubeError(error)) throw error;
    }
    this.judge();
  }
}

/** A run, whatever is taken over. */
export type AnyRun = Omit<TakeoverRun<never>, 'another' | 'copy' | 'deathsIn'>;

type InKube = Pick<AnyRun, 'kube'>;

/** `key`: its resource and its name. */
export const objectIn = ({ kube }: InKube, key: string): KubeObject | undefined =>
  kube.objects.get(key.replace('/', `/${namespace}/`));

export const specIn = (run: InKube, key: string) => Object(objectIn(run, key)?.['spec']);

export const ownersIn = (run: InKube, key: string) =>
  objectIn(run, key)?.metadata.ownerReferences ?? [];

/** Those of the Deployment of an operator. */
export const replicasOf = (run: InKube, operator = 'etcd-operator'): number =>
  Number(specIn(run, `deployments/${operator}`).replicas);

export const namesOf = ({ kube }: InKube, resource: string): readonly string[] =>
  [...kube.of(resource).values()].map(({ metadata }: KubeObject) => metadata.name).toSorted();
