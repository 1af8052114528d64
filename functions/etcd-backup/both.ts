// The two kinds that this function keeps behind one entry: an event may be about a backup, and
// about the schedule that made it. A failure at one holds up nothing of the other.
import type { Context, IncomingEvent } from '../../shared/function/define.ts';
import { settleAll } from '../../shared/function/settle-all.ts';
import type { Deps } from './deps.ts';
import { reconciler as backups } from './reconciler.ts';
import type { ScheduleDeps } from './schedule/deps.ts';
import { reconciler as schedules } from './schedule/reconciler.ts';

export const reconciler = {
  async sweepAll(context: Context<Deps>): Promise<void> {
    await settleAll([backups.sweepAll(context), schedules.sweepAll(ofSchedules(context))]);
  },

  /** The schedule afterwards: it goes by what is written of the backup. */
  async takeChange(event: IncomingEvent, context: Context<Deps>): Promise<void> {
    const first = backups.takeChange(event, context);
    const second = async (): Promise<void> => {
      await Promise.allSettled([first]);
      await schedules.takeChange(event, ofSchedules(context));
    };
    await settleAll([first, second()]);
  },
};

/** Field by field: some of a request's are no properties of its own. */
const ofSchedules = ({ deps, clock, metrics, log, signal, traceparent }: Context<Deps>) =>
  ({
    deps: deps.schedules,
    clock,
    metrics,
    log,
    signal,
    traceparent,
  }) satisfies Context<ScheduleDeps>;
