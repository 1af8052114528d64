// The first records of a plan of a NatsCluster, when it is confirmed: all that a rollback would
// need, and that later looks are held against. Pure.
import { hashOf } from '../../../shared/hash.ts';
import { intoOf, type Records, rememberedOperators, selectorText } from '../records.ts';
import type { NatsState } from './state.ts';

export function firstRecordsOfNats(state: NatsState, plan: string): Records {
  const { takeover, legacy, client, pods, operators } = state;
  if (legacy === undefined || client === undefined) {
    throw new Error('a plan of which something is missing has no id');
  }
  const { name, uid, selector } = client;
  const work = {
    plan,
    into: intoOf(takeover),
    legacyUid: legacy.uid,
    service: { name, uid, selector: selectorText(selector) },
    claims: [],
    operators: rememberedOperators(operators),
    servers: pods.map((pod) => ({ name: pod.name, uid: pod.uid })),
    target: targetHash(state),
    attempt: 1,
  };
  return { work, steps: [] };
}

/** The NatsCluster that is to be made, with the names and rights of all users. */
export const targetHash = ({ target }: Pick<NatsState, 'target'>): string => hashOf(target.wanted);
