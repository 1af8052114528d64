// The first records of a plan of a NatsCluster, when it is confirmed. Pure.
import { hashOf } from '../../../shared/hash.ts';
import { confirmedWork, type Records } from '../records.ts';
import type { NatsState } from './state.ts';

export const firstRecordsOfNats = (state: NatsState, plan: string): Records => ({
  work: {
    ...confirmedWork(state, plan),
    claims: [],
    servers: state.pods.map(({ name, uid }) => ({ name, uid })),
    target: targetHash(state),
  },
  steps: [],
});

/** The NatsCluster that is to be made, with the names and rights of all users. */
export const targetHash = ({ target }: Pick<NatsState, 'target'>): string => hashOf(target.wanted);
