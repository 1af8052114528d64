// The answers of the members of the legacy cluster, put together. Pure.
import type { LegacyAnswer } from '../../shared/etcd/legacy.ts';
import { versionOf } from './versions.ts';
import type { Asked, State } from './state.ts';

export interface Answered {
  readonly pod: string;
  readonly answer: LegacyAnswer;
}

const hasAnswered = (asked: Asked): asked is LegacyAnswer => 'status' in asked;

export const answersOf = ({ members }: Pick<State, 'members'>): readonly Answered[] =>
  [...(members ?? [])].flatMap(([pod, asked]) =>
    hasAnswered(asked) ? [{ pod, answer: asked }] : [],
  );

export const silentOf = ({ members }: Pick<State, 'members'>): readonly string[] =>
  [...(members ?? [])].flatMap(([pod, asked]) => (hasAnswered(asked) ? [] : [pod]));

/** The member to take a snapshot from: one that leads nobody, where there is one. */
export function sourceOf(state: Pick<State, 'members'>): Answered | undefined {
  const answers = answersOf(state).filter(({ answer }) => answer.status.leaderId !== undefined);
  const isFollower = ({ answer: { status } }: Answered): boolean =>
    status.leaderId !== status.header.memberId;
  return answers.find((one) => isFollower(one)) ?? answers[0];
}

/** The oldest of them. */
export function oldestOf(state: Pick<State, 'members'>): string | undefined {
  const versions = answersOf(state).map(({ answer }) => answer.status.version);
  return versions.toSorted((one, other) => versionOf(one) - versionOf(other))[0];
}
