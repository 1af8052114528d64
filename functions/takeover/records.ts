// The memory of a plan that is carried out, and the names of what is made for it. Pure.
import type { TakenStep, TakeoverStatus, TakeoverWork } from '../../shared/api/takeover.ts';
import { hashOf } from '../../shared/hash.ts';
import { isEnding } from '../../shared/kube/objects.ts';
import { timestamp } from '../../shared/kube/timestamp.ts';
import type { Takeover } from './object.ts';
import type { FoundService, Seen } from './state.ts';

export interface Records {
  readonly work: TakeoverWork;
  readonly steps: readonly TakenStep[];
}

export const recordsOf = ({ work, steps = [] }: TakeoverStatus): Records | undefined =>
  work === undefined ? undefined : { work, steps };

/** Nothing is done any more. */
export const isOver = ({ status }: Pick<Takeover, 'status'>): boolean =>
  status.work?.endedAt !== undefined;

/** A plan was confirmed, and is carried out or taken back. */
export const isAtWork = (takeover: Takeover): boolean =>
  takeover.status.work !== undefined && !isOver(takeover) && !isEnding(takeover.object);

/** All that was made is being deleted. */
export const isUndoing = ({ undoing, rollingBackAt }: TakeoverWork): boolean =>
  undoing !== undefined || rollingBackAt !== undefined;

/** Whether the plan that was confirmed is of this spec. */
export const intoOf = ({ spec }: Pick<Takeover, 'spec'>): string => hashOf(spec.into);

/** Its snapshot, the EtcdBackup and the EtcdRestore. */
export const madeNameOf = (name: string, { attempt }: Pick<TakeoverWork, 'attempt'>): string =>
  `${name}-takeover-${attempt}`;

export const FILE = 'snapshot.db';

/** An id that no member has: by it the alarm is known for that of this takeover. */
export function alarmIdOf({ uid }: Pick<Takeover, 'uid'>): string {
  const DIGITS = 15;
  return String(BigInt(`0x${hashOf(uid).slice(0, DIGITS)}`));
}

/** The step as the one that is done now; what was begun before it is done. */
export function begun(
  { work, steps }: Records,
  step: Pick<TakenStep, 'name' | 'precondition'>,
  nowMs: number,
): Records {
  const now = timestamp(nowMs);
  const before = steps.map((one) => ({ doneAt: now, ...one }));
  return { work, steps: [...before, { ...step, startedAt: now }] };
}

export function ended({ work, steps }: Records, nowMs: number): Records {
  const now = timestamp(nowMs);
  return {
    work: { ...work, endedAt: now },
    steps: work.rollingBackAt === undefined ? steps.map((one) => ({ doneAt: now, ...one })) : steps,
  };
}

interface Confirmed extends Pick<Seen, 'takeover' | 'operators'> {
  readonly legacy: { readonly uid: string } | undefined;
  readonly client: FoundService | undefined;
}

/** The part of both kinds: a rollback would need it, and later looks are held against it. */
export function confirmedWork(
  { takeover, legacy, client, operators }: Confirmed,
  plan: string,
): Omit<TakeoverWork, 'claims'> {
  if (legacy === undefined || client === undefined) {
    throw new Error('a plan of which something is missing has no id');
  }
  const { name, uid, selector } = client;
  return {
    plan,
    into: intoOf(takeover),
    legacyUid: legacy.uid,
    service: { name, uid, selector: selectorText(selector) },
    operators: operators.map((one) => ({
      namespace: one.namespace,
      name: one.name,
      uid: one.uid,
      replicas: one.replicas,
    })),
    attempt: 1,
  };
}

/** The same for the same, as a person would write it. */
export const selectorText = (selector: Readonly<Record<string, string>>): string =>
  Object.entries(selector)
    .map(([key, value]) => `${key}=${value}`)
    .toSorted()
    .join(',');

/** From that text. */
export const selectorIn = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(text.split(',').map((pair) => pair.split('=')));
