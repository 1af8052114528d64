// How a member in the list is reached: at the pod that answered with its id. Pure.
import { type Access, accessToNew, accessToOld } from '../access.ts';
import { answersOf } from '../answers.ts';
import type { State } from '../state.ts';
import type { Place } from './members.ts';

export function reach(state: State, { id, name }: Place): Access {
  const old = answersOf(state).find(({ answer }) => answer.status.header.memberId === id);
  const pods = state.pods.filter((one) => one.name === old?.pod);
  const access =
    old === undefined ? accessToNew(state, freshAt(state, id)) : accessToOld(state, pods);
  if (access.endpoints.length === 0) throw new Error(`${name} has answered, and has no address`);
  return access;
}

const freshAt = ({ joining }: State, id: string) =>
  (joining?.fresh ?? []).filter(
    ({ asked }) => 'status' in asked && asked.status.header.memberId === id,
  );
