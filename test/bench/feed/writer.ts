// Changes pods at a steady rate through the API server, in a process of its own: one label of one
// pod after the other, as a small change that every reader can see.
import { systemClock } from '../../../shared/clock.ts';
import { openKube } from '../../../shared/kube/client.ts';
import { nowMs, TURN_LABEL } from './arrivals.ts';
import { answerWith } from './child.ts';
import { POD_NAMESPACE, PODS, podName } from './pods.ts';

export interface WriteOrder {
  readonly pods: number;
  readonly changes: number;
  readonly perSecond: number;
}

export interface Written {
  /** Turns are counted through all orders. */
  readonly firstTurn: number;
  /** When each turn's request was begun. */
  readonly startedMs: Float64Array;
  /** From the first request to the last answer. */
  readonly seconds: number;
}

const kube = openKube({
  kubeconfigPath: process.argv[2] ?? '',
  userAgent: 'bench-writer',
  fieldManager: 'bench-writer',
});
let turns = 0;

async function change(turn: number, pods: number): Promise<void> {
  const target = { namespace: POD_NAMESPACE, name: podName(turn % pods) };
  const body = { metadata: { labels: { [TURN_LABEL]: String(turn) } } };
  await kube.patch(PODS, target, { type: 'merge', body });
}

answerWith(async ({ pods, changes, perSecond }: WriteOrder): Promise<Written> => {
  const firstTurn = turns;
  const startedMs = new Float64Array(changes);
  const beganMs = nowMs();
  const underWay: Promise<void>[] = [];
  for (let index = 0; index < changes; index += 1) {
    const dueMs = beganMs + (index * 1_000) / perSecond;
    const waitMs = dueMs - nowMs();
    if (waitMs > 0) await systemClock.sleep(waitMs);
    startedMs[index] = nowMs();
    underWay.push(change(turns, pods));
    turns += 1;
  }
  await Promise.all(underWay);
  return { firstTurn, startedMs, seconds: (nowMs() - beganMs) / 1_000 };
});
