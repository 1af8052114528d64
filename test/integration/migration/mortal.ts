// An instance of storage-migration that is killed at one of its writes, or something else happens
// to the world just after a write.
import { pino } from 'pino';
import { Deps } from '../../../functions/storage-migration/deps.ts';
import { takeChange } from '../../../functions/storage-migration/reconciler.ts';
import { systemClock } from '../../../shared/clock.ts';
import type { Context, IncomingEvent } from '../../../shared/function/define.ts';
import { Metrics } from '../../../shared/function/metrics.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { type Death, Killed, kubeWriting, lifeUntil } from '../../builders/mortal.ts';

/** A point after a write, such as `apply storagemigrations`. */
export type Meanwhile = (written: string) => Promise<void>;

/** The last write of the dead process, in the same words; undefined when it outlived all. */
export type LastWord = string | undefined;

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

  /** Instances that live at the same times. */
  beside(): Lives {
    const other = new Lives(this.#kube, this.#event.id);
    other.#aheadMs = this.#aheadMs;
    return other;
  }

  /** One event of the migration, taken by a new instance, up to its death. */
  async live(
    death?: Death,
    meanwhile?: Meanwhile,
    { signal }: AbortController = new AbortController(),
  ): Promise<LastWord> {
    this.#aheadMs += LEASE_MS;
    const aheadMs = this.#aheadMs;
    const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs };
    const { proxy, lastWord } = lifeUntil(death, meanwhile);
    const kube = proxy(this.#kube, kubeWriting);
    const openServer = (): KubeClient => kube;
    const deps = new Deps({ kube, openServer, clock, workMs: WORK_MS, lease, ...AT_ONCE });
    const log = pino({ level: 'silent' });
    const metrics = new Metrics();
    const context: Context<Deps> = { deps, clock, metrics, log, signal, traceparent: undefined };
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
const lease = { namespace: 'ballast-system', name: 'unused', sweepSeconds: 60 };
/** More than any instance says that it will be at it. */
const LEASE_MS = 60_000;
