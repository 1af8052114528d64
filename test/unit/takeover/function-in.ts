// The function of takeovers at a model of the API server, by a clock and with the answers that a
// test gives.
import { pino } from 'pino';
import { Deps } from '../../../functions/takeover/deps.ts';
import { DOOR, type Door } from '../../../functions/takeover/door.ts';
import { reconciler } from '../../../functions/takeover/reconciler.ts';
import type { Context } from '../../../shared/function/define.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { KubeModel } from '../stateful/kube-model.ts';

const LEASE = { namespace: 'ballast-system', name: 'l', sweepSeconds: 60, isForObjects: true };

export const depsIn = ({ client: kube }: KubeModel, clock: Clock, door: Partial<Door>): Deps =>
  new Deps({ kube, clock, workMs: 10_000, lease: LEASE }, { ...DOOR, ...door });

export async function sweepWith(deps: Deps): Promise<void> {
  const log = pino({ level: 'silent' });
  const { signal } = new AbortController();
  await reconciler.sweepAll({ deps, log, signal } as unknown as Context<Deps>);
}
