// Rows of the tables about decisions, and observations that several of them share.
import { decide } from '../../../functions/etcd-cluster/decide.ts';
import type { Alarm, Upkeep } from '../../../functions/etcd-cluster/etcd-state.ts';
import type { State } from '../../../functions/etcd-cluster/state.ts';
import type { Differences } from './samples.ts';

/** An observation, and `step: next [reason of waiting] !reason of trouble`. */
export type Row = readonly [name: string, observed: Differences, decision: string];

export function shown(of: State): string {
  const { step, next, waitsFor, trouble } = decide(of);
  const waits = waitsFor === undefined ? '' : ` [${waitsFor.reason}]`;
  const needs = trouble === undefined ? '' : ` !${trouble.reason}`;
  return `${step?.type ?? 'wait'}: ${next}${waits}${needs}`;
}

export const outdated =
  (...names: readonly string[]): NonNullable<Differences['pods']> =>
  (pods) =>
    pods.map((one) => (names.includes(one.name) ? { ...one, templateHash: 't0' } : one));
export function forgotten(...ids: readonly string[]): NonNullable<Differences['etcd']> {
  return (etcd) => ({
    ...etcd,
    list: etcd.list && {
      ...etcd.list,
      members: etcd.list.members.filter(({ id }) => !ids.includes(id)),
    },
  });
}

export type Etcd = NonNullable<Differences['etcd']>;

export const all =
  (...changes: readonly Etcd[]): Etcd =>
  (etcd, own) =>
    changes.reduce((now, change) => change(now, own), etcd);
export const alarms =
  (...found: readonly Alarm[]): Etcd =>
  (etcd) => ({ ...etcd, alarms: found });
export const upkeep =
  (told: Upkeep): Etcd =>
  (etcd) => ({ ...etcd, upkeep: { ...etcd.upkeep, ...told } });
