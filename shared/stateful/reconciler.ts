// The reconciler: an event or the sweep names objects of one kind. Each is reconciled one step at a
// time, again and again until WORK_SECONDS are over. The rest is left to the next event.
import type { Context, IncomingEvent } from '../function/define.ts';
import type { Reason } from '../kube/conditions.ts';
import { isKubeError } from '../kube/errors.ts';
import { isRecord, textOf } from '../kube/json.ts';
import type { KubeObject, ResourceRef } from '../kube/objects.ts';
import { sweepEach } from '../kube/sweep-lease.ts';
import type { StatefulDeps } from './deps.ts';
import { Listed } from './listed.ts';

export type ReconcilerDeps = Pick<
  StatefulDeps<never>,
  'kube' | 'clock' | 'workMs' | 'lease' | 'serialized' | 'inTurn' | 'keepOnly'
>;

/** The objects that a function keeps, and how it does. */
export interface Reconciled<Deps> {
  readonly ref: ResourceRef;
  readonly kind: string;
  /** On the parts of an object: its name. */
  readonly label: string;
  /** The field of log lines that names the object. */
  readonly logField: string;
  /**
   * Observes, decides, and applies at most one step.
   */
  readonly reconcileOnce: (object: KubeObject, context: Context<Deps>, look: Look) => Promise<Next>;
  /** Names the rights that lack; undefined for any other failure. */
  readonly rightsMissing: (object: KubeObject, error: unknown) => Reason | undefined;
  /** Writes into the status that nothing could be observed. */
  readonly reportUnobserved: (
    object: KubeObject,
    reason: Reason,
    context: Context<Deps>,
  ) => Promise<void>;
  /** A part changed, perhaps by somebody else: some of the memory may no longer be true. */
  readonly partChanged: (partKind: string, object: KubeObject, deps: Deps) => void;
}

/**
 * How long to wait before the next time; undefined when that is left to the next event. `ReadAnew`
 * is at once: there is a step, and it waits for a look in which nothing comes from memory.
 */
export type Next = number | 'ReadAnew' | undefined;

export interface Look {
  /** Then no step is applied any more. */
  readonly isTimeOver: boolean;
  /**
   * The object is as the sweep has listed it, a while ago: before any step is applied it is read
   * again.
   */
  readonly isListed: boolean;
}

interface Place {
  readonly namespace: string;
  readonly name: string;
}

/** An object that was read already. */
interface FirstLook {
  readonly object: KubeObject;
  readonly isListed: boolean;
}

/** Little more than names is held in memory: tenants may write objects of any size. */
const OBJECTS_PER_PAGE = 500;

export class Reconciler<Deps extends ReconcilerDeps> {
  readonly #of: Reconciled<Deps>;

  constructor(of: Reconciled<Deps>) {
    this.#of = of;
  }

  /** Reconciles every object, once a minute. */
  async sweepAll(context: Context<Deps>): Promise<void> {
    const { deps, log, signal } = context;
    const { kube, lease, clock } = deps;
    const found: { readonly metadata: Place & { readonly uid: string } }[] = [];
    const listed = new Listed();
    const options = { limit: OBJECTS_PER_PAGE, signal };
    for await (const { items } of kube.pages(this.#of.ref, options)) {
      for (const object of items) {
        const { namespace = '', name, uid } = object.metadata;
        found.push({ metadata: { namespace, name, uid } });
        listed.offer(object);
      }
    }
    deps.keepOnly(new Set(found.map(({ metadata }) => metadata.uid)));
    const nowMs = (): number => clock.nowMs();
    const each = ({ metadata }: (typeof found)[number]): Promise<void> => {
      const object = listed.take(metadata.uid);
      return this.#reconcile(metadata, context, object && { object, isListed: true });
    };
    await sweepEach(found, each, { kube, lease, nowMs, log, signal });
  }

  /** An event only names an object; its state is read again: events come late, twice or forged. */
  async takeChange({ data }: IncomingEvent, context: Context<Deps>): Promise<void> {
    const { deps, signal } = context;
    const { kind: own, ref, label: key, partChanged } = this.#of;
    const { kind, metadata } = isRecord(data) ? data : {};
    const { namespace: space, name: its, labels } = isRecord(metadata) ? metadata : {};
    const label = isRecord(labels) ? textOf(labels[key]) : '';
    const [namespace, name] = [textOf(space), kind === own ? textOf(its) : label];
    if (namespace === '' || name === '') return;
    const object = await deps.kube.get(ref, { namespace, name }, { signal });
    if (object === null) return;
    if (kind !== own) partChanged(textOf(kind), object, deps);
    await this.#reconcile({ namespace, name }, context, { object, isListed: false });
  }

  async #reconcile(place: Place, context: Context<Deps>, first?: FirstLook): Promise<void> {
    const { deps, log } = context;
    const key = `${place.namespace}/${place.name}`;
    await deps.serialized(key, async (hasWaited) => {
      try {
        // Events that waited together are answered by one reconcile, so it has to read the object
        // after all of them arrived.
        await this.#reconcileUntilDone(place, context, hasWaited ? undefined : first);
      } catch (error) {
        // Another instance or a person changed or deleted the object. That change is an event of
        // its own, which begins from the new state.
        if (!isKubeError(error, 'KUBE_CONFLICT', 'KUBE_NOT_FOUND')) throw error;
        log.info({ [this.#of.logField]: key }, 'somebody else was first');
      }
    });
  }

  async #reconcileUntilDone(
    { namespace, name }: Place,
    context: Context<Deps>,
    first: FirstLook | undefined,
  ): Promise<void> {
    const { deps, signal } = context;
    const { clock, kube, workMs } = deps;
    const endsAtMs = clock.nowMs() + workMs;
    let unused = first;
    // Where the API server is slow the reads before the first step may take longer than all that is
    // allowed: each request takes one step, or nothing would ever move.
    let hasDecided = false;
    const reconcileNow = async (): Promise<Next> => {
      const { object, isListed } = unused ?? {
        object: await kube.get(this.#of.ref, { namespace, name }, { signal }),
        isListed: false,
      };
      unused = undefined;
      if (object === null) return undefined;
      const isTimeOver = hasDecided && clock.nowMs() > endsAtMs;
      return this.#reconcileOnce(object, context, { isTimeOver, isListed });
    };
    for (;;) {
      const next = await deps.inTurn(reconcileNow);
      if (next === undefined) return;
      hasDecided ||= next !== 'ReadAnew';
      if (next !== 'ReadAnew' && next > 0) await clock.sleep(next, signal);
    }
  }

  /** Missing rights in one namespace are written to its status, and hold up no other namespace. */
  async #reconcileOnce(object: KubeObject, context: Context<Deps>, look: Look): Promise<Next> {
    const { reconcileOnce, rightsMissing, reportUnobserved, logField } = this.#of;
    try {
      return await reconcileOnce(object, context, look);
    } catch (error) {
      const reason = rightsMissing(object, error);
      if (reason === undefined) throw error;
      const { namespace = '', name } = object.metadata;
      context.log.warn({ [logField]: `${namespace}/${name}` }, reason.message);
      await reportUnobserved(object, reason, context);
      return undefined;
    }
  }
}
