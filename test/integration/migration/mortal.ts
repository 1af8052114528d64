// An instance of storage-migration that is killed at one of its writes: either the write is the
// first thing that does not happen any more, or the last thing that did. Or something else happens
// to the world just after a write.
import { pino } from 'pino';
import { Doors } from '../../../functions/storage-migration/doors.ts';
import { takeChange } from '../../../functions/storage-migration/work.ts';
import { systemClock } from '../../../shared/clock.ts';
import type { Context, IncomingEvent } from '../../../shared/function/define.ts';
import { Metrics } from '../../../shared/function/metrics.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';

export type Moment = 'before' | 'after';

export interface Death {
  /** At which of its writes, from 1; dry runs are none. */
  readonly write: number;
  readonly moment: Moment;
}

/** What happens after a write, such as `apply storagemigrations`. */
export type Meanwhile = (written: string) => Promise<void>;

/** What the dead one did last, in the same words; undefined when it outlived all. */
export type LastWord = string | undefined;

const WRITES: ReadonlySet<PropertyKey> = new Set(['apply', 'patch', 'create', 'update', 'delete']);

class Killed extends Error {}

/** The lives of instances, one after the other: each begins when the lease of the last is over. */
export class Lives {
  readonly #kube: KubeClient;
  readonly #event: IncomingEvent;
  #aheadMs = 0;

  constructor(kube: KubeClient, migration: string) {
    this.#kube = kube;
    const type = 'dev.knative.apiserver.resource.update';
    const data = { kind: 'StorageMigration', metadata: { name: migration } };
    this.#event = { id: migration, source: 'test', specversion: '1.0', type, data };
  }

  /** One event of the migration, taken by a new instance, up to its death. */
  async live(death?: Death, meanwhile?: Meanwhile): Promise<LastWord> {
    this.#aheadMs += LEASE_MS;
    const aheadMs = this.#aheadMs;
    const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs };
    const { kube, lastWord } = mortal(this.#kube, death, meanwhile);
    const openServer = (): KubeClient => kube;
    const doors = new Doors({ kube, openServer, clock, workMs: WORK_MS, ...AT_ONCE });
    const log = pino({ level: 'silent' });
    const { signal } = new AbortController();
    const metrics = new Metrics();
    const context: Context<Doors> = { doors, clock, metrics, log, signal, traceparent: undefined };
    try {
      await takeChange(this.#event, context);
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
    }
    return lastWord();
  }
}

const WORK_MS = 10_000;
const AT_ONCE = { settleMs: 0, longestWriteMs: 0 };
/** More than any instance says that it will be at it. */
const LEASE_MS = 60_000;

function mortal(kube: KubeClient, death: Death | undefined, meanwhile: Meanwhile | undefined) {
  let writes = 0;
  let last: LastWord;
  const call = async (
    name: PropertyKey,
    args: readonly unknown[],
    work: () => Promise<unknown>,
  ) => {
    if (last !== undefined) throw new Killed();
    if (!isWrite(name, args)) return work();
    writes += 1;
    const word = `${String(name)} ${(args[0] as { readonly resource: string }).resource}`;
    if (writes !== death?.write) {
      const done = await work();
      await meanwhile?.(word);
      return done;
    }
    last = word;
    if (death.moment === 'after') await work();
    throw new Killed();
  };
  const proxy = new Proxy(kube, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return (...args: readonly unknown[]) =>
        call(name, args, () => Reflect.apply(member, target, args) as Promise<unknown>);
    },
  });
  return { kube: proxy, lastWord: () => last };
}

const isWrite = (name: PropertyKey, args: readonly unknown[]): boolean =>
  WRITES.has(name) && !args.some((one) => (one as { readonly dryRun?: boolean } | null)?.dryRun);
